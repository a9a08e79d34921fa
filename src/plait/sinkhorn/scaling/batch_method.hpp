#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "plait/mpi/agreed.hpp"
#include "plait/sinkhorn/course/iterations.hpp"
#include "plait/sinkhorn/exchange/column_sums.hpp"
#include "plait/sinkhorn/marginals/feasibility.hpp"
#include "plait/sinkhorn/sweep/slabs.hpp"
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
        of_rows_(update.row_exponent),
        of_columns_(update.column_exponent),
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
  [[nodiscard]] const LogUpdate& of_rows() const noexcept { return of_rows_; }
  [[nodiscard]] const LogUpdate& of_columns() const noexcept { return of_columns_; }
  /// Both.
  [[nodiscard]] bool is_balanced() const noexcept { return is_balanced_; }
  [[nodiscard]] std::span<A> sums_of(std::size_t k) { return sums_.of(slots_[k]).first(columns_); }

  /// After columns moved: see `translation`. Whether they still have factors.
  [[nodiscard]] bool translate(std::size_t k) {
    if (is_balanced_) return true;
    double wanted_of_columns = 0;
    for (std::size_t j = 0; j < columns_; ++j) wanted_of_columns += self().wanted(k, j);
    const auto wanted_of_rows = static_cast<double>(sums_.of(slots_[k])[columns_]);
    const double shift = translation(of_rows_, of_columns_, wanted_of_rows, wanted_of_columns);
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
  LogUpdate of_rows_;
  LogUpdate of_columns_;
  bool is_balanced_;
  std::size_t columns_;
  BatchSums<A> sums_;
  std::vector<std::size_t> slots_;  // of each problem that takes part
  std::vector<RowsSwept> swept_;
};

}  // namespace plait::sinkhorn
