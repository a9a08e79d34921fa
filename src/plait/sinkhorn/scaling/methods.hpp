#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "plait/iterate/solver.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/course/iterations.hpp"
#include "plait/sinkhorn/exchange/column_sums.hpp"
#include "plait/sinkhorn/marginals/feasibility.hpp"
#include "plait/sinkhorn/scaling/rows.hpp"
#include "plait/sinkhorn/sweep/sweep.hpp"
#include "plait/sinkhorn/sweep/update.hpp"

namespace plait::sinkhorn {

/// How a run by factors ends where `what` is no number.
template <class A>
[[nodiscard]] Method::Ending out_of_range(std::string_view what, Index iteration) {
  return {iterate::End::numbers,
          fmt::format("{} left the range of {} in iteration {}; the logarithmic domain (plait transport) has no such "
                      "limit",
                      what, std::is_same_v<A, double> ? "double" : "float", iteration)};
}

/// What iterations by factors and by logarithms have in common: the columns of all problems are summed up by one
/// message, with what decides how each goes on. `Self` has, for problem k and column j,
///
///     void sweep(problems, std::span<RowsSwept>);  // gives rows their sums, and adds to sums_of(k)
///     double wanted(k, j) const;                   // what a column is to sum up to
///     double sum(k, j, A of_rows) const;           // and does
///     bool shift(k, double by);                    // what `translation` tells: whether columns still have factors
///     const std::vector<A>& heights(k) const;      // of this rank's rows
///     std::vector<Feasibility> prove(std::span<const RowHeights>);  // where all sums must be had
///     static constexpr bool has_total;             // errors are relative to marginals' total where these must be had
template <class A, class Self>
class BatchMethod : public Method {
 public:
  /// \param over      the ranks over which columns are summed up
  /// \param problems  which outlive this
  /// \param columns   that these have
  template <class Problems>
  BatchMethod(mpi::Context& context, mpi::Context& over, Problems problems, Index columns, const Update& update)
      : Method(std::move(problems)),
        context_(context),
        update_(update),
        is_balanced_(update.is_balanced()),
        columns_(static_cast<std::size_t>(columns)),
        sums_(context, over, columns_ + riders),
        slots_(count()) {
    swept_.reserve(count());
  }

  void rows(std::span<const std::size_t> problems, std::span<Found> found) final {
    sums_.clear(problems.size());
    for (std::size_t n = 0; n < problems.size(); ++n) slots_[problems[n]] = n;
    swept_.assign(problems.size(), RowsSwept{});
    self().sweep(problems, swept_);
    for (std::size_t n = 0; n < problems.size(); ++n) {
      const auto with = sums_.of(n).subspan(columns_);
      with[0] = static_cast<A>(swept_[n].wanted);
      with[1] = static_cast<A>(swept_[n].unreached);
    }
    sums_.add_up();
    for (std::size_t n = 0; n < problems.size(); ++n) {
      found[n] = {error_of(problems[n]), sums_.of(n)[columns_ + 1] > 0};
    }
    self().agree(problems, found);
  }

  /// For a `Self` whose ranks have found different errors.
  void agree(std::span<const std::size_t> /*problems*/, std::span<Found> /*found*/) {}

  void find_slopes(std::size_t k, std::span<double> slopes) final {
    const auto sums = sums_of(k);
    for (std::size_t j = 0; j < columns_; ++j) slopes[j] = self().wanted(k, j) - self().sum(k, j, sums[j]);
  }

  [[nodiscard]] std::vector<Feasibility> look_for_proof(std::span<const std::size_t> problems) final {
    if (!is_balanced_) return Method::look_for_proof(problems);
    std::vector<std::vector<double>> heights;
    std::vector<RowHeights> asked;
    mpi::agreed(context_, [&] {
      heights.reserve(problems.size());
      for (const std::size_t k : problems) {
        const auto& of_rows = self().heights(k);
        heights.emplace_back(of_rows.begin(), of_rows.end());
        asked.push_back({&problem(k), heights.back()});
      }
    });
    return self().prove(asked);
  }

 protected:
  [[nodiscard]] mpi::Context& context() const noexcept { return context_; }
  [[nodiscard]] const LogUpdate& of_rows() const noexcept { return update_.rows; }
  [[nodiscard]] const LogUpdate& of_columns() const noexcept { return update_.columns; }
  /// Both.
  [[nodiscard]] bool is_balanced() const noexcept { return is_balanced_; }
  [[nodiscard]] std::span<A> sums_of(std::size_t k) { return sums_.of(slots_[k]).first(columns_); }

  /// After columns moved: see `translation`. Whether they still have factors.
  [[nodiscard]] bool translate(std::size_t k) {
    if (is_balanced_) return true;
    double wanted_of_columns = 0;
    for (std::size_t j = 0; j < columns_; ++j) wanted_of_columns += self().wanted(k, j);
    const auto wanted_of_rows = static_cast<double>(sums_.of(slots_[k])[columns_]);
    const double shift = translation(update_.rows, update_.columns, wanted_of_rows, wanted_of_columns);
    return shift == 0 || self().shift(k, shift);
  }

 private:
  // What rows are to sum up to, and how many have no factor.
  static constexpr std::size_t riders = 2;

  [[nodiscard]] Self& self() noexcept { return static_cast<Self&>(*this); }

  [[nodiscard]] double error_of(std::size_t k) {
    const auto sums = sums_of(k);
    double off = 0;
    double whole = 0;
    for (std::size_t j = 0; j < columns_; ++j) {
      const double wanted = self().wanted(k, j);
      off += std::abs(wanted - self().sum(k, j, sums[j]));
      whole += wanted;
    }
    if (Self::has_total && is_balanced_) whole = problem(k).total;
    return whole > 0 ? off / whole : off;
  }

  mpi::Context& context_;
  Update update_;
  bool is_balanced_;
  std::size_t columns_;
  BatchSums<A> sums_;
  std::vector<std::size_t> slots_;  // of each problem that takes part
  std::vector<RowsSwept> swept_;
};

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
