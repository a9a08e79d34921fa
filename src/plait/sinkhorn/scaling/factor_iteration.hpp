#pragma once

#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "plait/layout/sparse_rows.hpp"
#include "plait/simd/sweep/scaling_kernels.hpp"
#include "plait/sinkhorn/scaling/iteration.hpp"
#include "plait/sinkhorn/sweep/filled_parts.hpp"
#include "plait/sinkhorn/sweep/sweep.hpp"
#include "plait/sinkhorn/sweep/update.hpp"

namespace plait::sinkhorn {

/// Rows that are stored one after the other. Blocks of zeros are read once, see `FilledParts`.
template <class T, class A>
class DenseRows {
 public:
  explicit DenseRows(matrix_view<const T> rows) : rows_(rows), filled_(rows) {}

  /// Gives each problem u[i] = f(problem, i, Σ_j K(i, j) v[j]), and adds Σ_i u[i] K(i, j) to its sums: one read.
  template <class F>
  void sweep(std::span<const BatchVectors<A>> problems, F&& f) {
    if (problems.size() > 1) {
      of_block_.resize(problems.size());
      return batch_sweep<T, A>(kernels_, rows_, problems, of_block_,
                               [&](Index first, Index count, const std::vector<SumsOfBlock<A>>& sums) {
                                 for (std::size_t k = 0; k < problems.size(); ++k) {
                                   for (Index n = 0; n < count; ++n) {
                                     problems[k].u[first + n] = f(k, first + n, sums[k][static_cast<std::size_t>(n)]);
                                   }
                                 }
                               });
    }
    for (const auto& [v, u, sums] : problems) {
      const auto of_one = [&](Index i, A sum) { return f(std::size_t{0}, i, sum); };
      if (filled_.are_few()) {
        fused_sweep(kernels_, rows_, filled_, v, u, sums, of_one);
      } else {
        fused_sweep(kernels_, rows_, v, u, sums, of_one);
      }
    }
  }

 private:
  matrix_view<const T> rows_;
  FilledParts filled_;
  simd::ScalingKernels<T, A> kernels_ = simd::scaling_kernels<T, A>();
  std::vector<SumsOfBlock<A>> of_block_;
};

/// Rows of which only entries are stored.
template <class T, class A>
class SparseEntries {
 public:
  explicit SparseEntries(const layout::SparseRows<T>& rows) : rows_(&rows) {}

  template <class F>
  void sweep(std::span<const BatchVectors<A>> problems, F&& f) {
    for (Index i = 0; i < rows_->rows(); ++i) {
      const auto columns = rows_->columns_of(i);
      const auto values = rows_->values_of(i);
      for (std::size_t p = 0; p < problems.size(); ++p) {
        const auto& [v, u, sums] = problems[p];
        A sum{0};
        for (std::size_t k = 0; k < columns.size(); ++k) sum += static_cast<A>(values[k]) * v[columns[k]];
        u[i] = f(p, i, sum);
        for (std::size_t k = 0; k < columns.size(); ++k) sums[columns[k]] += u[i] * static_cast<A>(values[k]);
      }
    }
  }

 private:
  const layout::SparseRows<T>* rows_;
};

/// An iteration that changes factors only: what is summed up is the matrix times those of the rows.
template <class A, class Rows>
class FactorIteration final : public Iteration<A> {
 public:
  FactorIteration(Rows operand, std::vector<Factors<A>> problems, const Update& update)
      : Iteration<A>(std::move(problems)),
        operand_(std::move(operand)),
        of_rows_(update.row_exponent),
        of_columns_(update.column_exponent),
        is_balanced_(update.is_balanced()) {
    vectors_.reserve(this->problems().size());
  }

  void rows(std::span<const ColumnsOf<A>> columns) override {
    vectors_.clear();
    for (const ColumnsOf<A>& column : columns) {
      Factors<A>& problem = this->problems()[column.problem];
      problem.wanted_of_rows = 0;
      problem.starved_rows = problem.starved_columns = 0;
      vectors_.push_back({problem.v.data(), problem.u.data(), column.sums.data()});
    }
    if (is_balanced_) {
      operand_.sweep(
          vectors_, [&](std::size_t n, Index i, A sum) { return this->problems()[columns[n].problem].of_row(i, sum); });
    } else {
      operand_.sweep(vectors_, [&](std::size_t n, Index i, A sum) {
        return relaxed_row(this->problems()[columns[n].problem], i, sum);
      });
    }
  }

  [[nodiscard]] Distance distance(std::size_t problem, std::span<const A> sums) const override {
    const Factors<A>& of = this->problems()[problem];
    Distance found{0, is_balanced_ ? -1.0 : 0.0};
    for (std::size_t j = 0; j < sums.size(); ++j) {
      found.off += std::abs(lack(of, j, sums[j]));
      if (!is_balanced_) found.whole += wanted_sum(of_columns_, of.column_marginals[j], of.v[j]);
    }
    return found;
  }

  void columns(std::size_t problem, std::span<const A> sums) override {
    Factors<A>& of = this->problems()[problem];
    for (std::size_t j = 0; j < sums.size(); ++j) of.v[j] = of.of_column(j, sums[j], of_columns_.exponent());
  }

  [[nodiscard]] std::optional<Iterate> iterate(std::size_t problem) override {
    Factors<A>& of = this->problems()[problem];
    return Iterate{std::span(of.v), false, of.column_marginals};
  }
  void find_slopes(std::size_t problem, std::span<const A> sums, std::span<double> slopes) const override {
    const Factors<A>& of = this->problems()[problem];
    for (std::size_t j = 0; j < sums.size(); ++j) slopes[j] = lack(of, j, sums[j]);
  }

  [[nodiscard]] bool translate(std::size_t problem, double wanted_of_rows) override {
    if (is_balanced_) return true;
    Factors<A>& of = this->problems()[problem];
    double wanted_of_columns = 0;
    for (std::size_t j = 0; j < of.v.size(); ++j) {
      wanted_of_columns += wanted_sum(of_columns_, of.column_marginals[j], of.v[j]);
    }
    const double shift = translation(of_rows_, of_columns_, wanted_of_rows, wanted_of_columns);
    if (shift == 0) return true;
    multiply(of.u, std::exp(shift));  // where these leave their range, so do the next sums
    return multiply(of.v, std::exp(-shift));
  }

 private:
  /// What the sum is to be that a factor makes.
  [[nodiscard]] static double wanted_sum(const LogUpdate& update, double marginal, A factor) {
    if (update.is_balanced()) return marginal;
    return factor == 0 ? 0 : update.wanted(marginal, std::log(static_cast<double>(factor)));
  }

  [[nodiscard]] double lack(const Factors<A>& of, std::size_t j, A sum) const {
    return wanted_sum(of_columns_, of.column_marginals[j], of.v[j]) -
           static_cast<double>(of.v[j]) * static_cast<double>(sum);
  }

  [[nodiscard]] A relaxed_row(Factors<A>& of, Index i, A sum) const {
    const A factor = of.of_row(i, sum, of_rows_.exponent());
    of.wanted_of_rows += wanted_sum(of_rows_, of.row_marginals[static_cast<std::size_t>(i)], factor);
    return factor;
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

  Rows operand_;
  LogUpdate of_rows_;
  LogUpdate of_columns_;
  bool is_balanced_;  // both
  std::vector<BatchVectors<A>> vectors_;
};

}  // namespace plait::sinkhorn
