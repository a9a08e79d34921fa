#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "plait/iterate/solver.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/scaling/batch_method.hpp"
#include "plait/sinkhorn/scaling/rows.hpp"

namespace plait::sinkhorn {

/// Iterations that change factors only: what is summed up is the matrix times those of the rows. Where `Rows` are
/// blocks of a process grid, whose columns are not those of all ranks, they say so by agree(found), which makes errors
/// those of whole rows, the same on all ranks.
template <class A, class Rows>
class FactorMethod final : public BatchMethod<A, FactorMethod<A, Rows>> {
 public:
  static constexpr bool has_total = true;

  /// \param factors  to begin with, of each problem
  template <class Problems>
  FactorMethod(mpi::Context& context, Problems problems, Rows& rows, std::vector<Factors<A>> factors,
               const Update& update)
      : BatchMethod<A, FactorMethod>(context, rows.column_context(context), std::move(problems), rows.columns(),
                                     update),
        rows_(rows),
        factors_(std::move(factors)) {
    vectors_.reserve(factors_.size());
  }

  void sweep(std::span<const std::size_t> problems, std::span<RowsSwept> swept) {
    vectors_.clear();
    for (const std::size_t k : problems) {
      Factors<A>& of = factors_[k];
      of.starved_columns = 0;
      vectors_.push_back({of.v.data(), of.u.data(), this->sums_of(k)});
    }
    rows_.sweep(vectors_, swept, [&](std::size_t n, Index i, A sum, RowsSwept& found) {
      const double marginal = factors_[problems[n]].row_marginals[static_cast<std::size_t>(i)];
      const A factor = Factors<A>::factor(marginal, sum, this->of_rows().exponent(), found.unreached);
      if (!this->is_balanced()) found.wanted += wanted_sum(this->of_rows(), marginal, factor);
      return factor;
    });
  }

  void agree(std::span<const std::size_t> problems, std::span<Found> found) {
    if constexpr (are_blocks) {
      for (std::size_t n = 0; n < problems.size(); ++n) {
        const auto sums = this->sums_of(problems[n]);
        Index starved = 0;
        for (std::size_t j = 0; j < sums.size(); ++j) {
          static_cast<void>(Factors<A>::factor(factors_[problems[n]].column_marginals[j], sums[j],
                                               this->of_columns().exponent(), starved));
        }
        found[n].is_out_of_range = found[n].is_out_of_range || starved > 0;
      }
      rows_.agree(found);
    }
  }

  [[nodiscard]] std::vector<std::size_t> columns(std::span<const std::size_t> problems) override {
    std::vector<std::size_t> out_of_range;
    for (const std::size_t k : problems) {
      Factors<A>& of = factors_[k];
      const auto sums = this->sums_of(k);
      for (std::size_t j = 0; j < sums.size(); ++j) of.v[j] = of.of_column(j, sums[j], this->of_columns().exponent());
      if (of.starved_columns > 0 || !this->translate(k)) out_of_range.push_back(k);
    }
    return out_of_range;
  }

  [[nodiscard]] double wanted(std::size_t k, std::size_t j) const {
    return wanted_sum(this->of_columns(), factors_[k].column_marginals[j], factors_[k].v[j]);
  }
  [[nodiscard]] double sum(std::size_t k, std::size_t j, A of_rows) const {
    return static_cast<double>(factors_[k].v[j]) * static_cast<double>(of_rows);
  }
  [[nodiscard]] bool shift(std::size_t k, double by) {
    multiply(factors_[k].u, std::exp(by));  // where these leave their range, so do the next sums
    return multiply(factors_[k].v, std::exp(-by));
  }
  [[nodiscard]] const std::vector<A>& heights(std::size_t k) const { return factors_[k].u; }
  [[nodiscard]] std::vector<Feasibility> prove(std::span<const RowHeights> asked) {
    return rows_.feasibility(this->context(), asked);
  }

  [[nodiscard]] std::optional<Iterate> iterate(std::size_t k) override {
    if (are_blocks) return std::nullopt;
    return Iterate{std::span(factors_[k].v), false, factors_[k].column_marginals};
  }
  [[nodiscard]] Method::Ending out_of_range(std::size_t /*problem*/, Index iteration) const override {
    return sinkhorn::out_of_range<A>("sums of rows or columns", iteration);
  }
  [[nodiscard]] std::string at_limit() const override { return rows_.at_limit(); }

  void save(iterate::Checkpoint& checkpoint) const override {
    checkpoint.by_rank["u"].assign(factors_.front().u.begin(), factors_.front().u.end());
    checkpoint.shared["v"].assign(factors_.front().v.begin(), factors_.front().v.end());
  }
  void resume(const iterate::Checkpoint& checkpoint) override {
    Factors<A>& of = factors_.front();
    take(checkpoint.by_rank, "u", "factors of rows", std::span(of.u));
    take(checkpoint.shared, "v", "factors of columns", std::span(of.v));
  }

  [[nodiscard]] std::vector<Factors<A>>& factors() noexcept { return factors_; }

 private:
  static constexpr bool are_blocks = requires(Rows& rows, std::span<Found> found) { rows.agree(found); };

  /// What the sum is to be that a factor makes.
  [[nodiscard]] static double wanted_sum(const LogUpdate& update, double marginal, A factor) {
    if (update.is_balanced()) return marginal;
    return factor == 0 ? 0 : update.wanted(marginal, std::log(static_cast<double>(factor)));
  }

  /// Whether all factors are still positive and finite.
  static bool multiply(std::vector<A>& factors, double by) {
    bool are_in_range = true;
    for (A& factor : factors) {
      if (factor == 0) continue;
      factor = static_cast<A>(static_cast<double>(factor) * by);
      are_in_range = are_in_range && factor > 0 && std::isfinite(factor);
    }
    return are_in_range;
  }

  Rows& rows_;
  std::vector<Factors<A>> factors_;
  std::vector<BatchVectors<A>> vectors_;
};

}  // namespace plait::sinkhorn
