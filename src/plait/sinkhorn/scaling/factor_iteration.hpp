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
#include "plait/sinkhorn/sweep/slabs.hpp"
#include "plait/sinkhorn/sweep/sweep.hpp"
#include "plait/sinkhorn/sweep/update.hpp"

namespace plait::sinkhorn {

/// The vectors of one of several problems that share a matrix.
template <class A>
struct BatchVectors {
  const A* v = nullptr;  // factors of the columns
  A* u = nullptr;        // those of this rank's rows
  std::span<A> sums;     // where the columns are summed up
};

/// Rows that are stored one after the other. Blocks of zeros are read once, see `FilledParts`.
template <class T, class A>
class DenseRows {
 public:
  /// \param problems  the most that are swept at once
  DenseRows(matrix_view<const T> rows, std::size_t problems, int threads)
      : rows_(rows),
        filled_(rows),
        slabs_(rows.rows(), rows.columns(), rows.rows() * rows.columns(), static_cast<Index>(problems), threads) {}

  /// Gives each problem u[i] = f(problem, i, Σ_j K(i, j) v[j], swept), and adds Σ_i u[i] K(i, j) to its sums: one read.
  template <class F>
  void sweep(std::span<const BatchVectors<A>> problems, std::span<RowsSwept> swept, const F& f) {
    const auto work = [&](const Slab<A>& slab) {
      if (problems.size() == 1 && filled_.are_few()) return sweep_filled(problems.front(), slab, f);
      const Index row_bytes = std::max(Index{1}, rows_.columns()) * Index{sizeof(T)};
      const Index at_a_time = problems.size() == 1
                                  ? rows_at_a_time(rows_.columns(), Index{sizeof(T)})
                                  : std::clamp(cache_bytes() / 2 / row_bytes, Index{1}, simd::most_rows_at_a_time);
      for_each_block(rows_of(rows_, slab.first, slab.count), at_a_time,
                     [&](Index first, const auto& block, const auto& early, const auto& late) {
                       fused_sweep(kernels_, block, slab.first + first, problems, slab, early, late, f);
                     });
    };
    slabs_.sweep(problems.size(), work, [&](std::size_t k) { return SumsOfSlabs<A>{problems[k].sums, swept[k]}; });
  }

 private:
  using Ahead = simd::RowsAhead<T>;
  using SumsOfBlock = std::array<A, simd::most_rows_at_a_time>;

  template <class F>
  static void fused_sweep(const simd::ScalingKernels<T, A>& kernels, const simd::RowBlock<const T>& block, Index first,
                          std::span<const BatchVectors<A>> problems, const Slab<A>& slab, const Ahead& early,
                          const Ahead& late, const F& f) {
    SumsOfBlock sums{};
    for (std::size_t k = 0; k < problems.size(); ++k) {
      A* const u = problems[k].u + first;
      kernels.row_sums(block, problems[k].v, sums.data(), k == 0 ? early : Ahead{});
      for (Index i = 0; i < block.rows; ++i) {
        u[i] = f(k, first + i, sums[static_cast<std::size_t>(i)], slab.swept[k]);
      }
      kernels.column_sums(block, u, slab.sums(k).data(), k + 1 == problems.size() ? late : Ahead{});
    }
  }

  template <class F>
  void sweep_filled(const BatchVectors<A>& problem, const Slab<A>& slab, const F& f) const {
    static_assert(Slabs<A>::rows_at_a_time == FilledParts::rows_at_a_time);
    SumsOfBlock sums{};
    SumsOfBlock parts{};
    for (Index first = slab.first; first < slab.first + slab.count; first += FilledParts::rows_at_a_time) {
      const Index count = std::min(FilledParts::rows_at_a_time, slab.first + slab.count - first);
      const auto runs = filled_.runs(first / FilledParts::rows_at_a_time);
      sums.fill(A{0});
      for (const ColumnRun& run : runs) {
        kernels_.row_sums(filled_block(rows_, first, count, run), problem.v + run.first, parts.data(), {});
        for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) sums[i] += parts[i];
      }
      for (Index i = 0; i < count; ++i) {
        problem.u[first + i] = f(std::size_t{0}, first + i, sums[static_cast<std::size_t>(i)], slab.swept[0]);
      }
      for (const ColumnRun& run : runs) {
        kernels_.column_sums(filled_block(rows_, first, count, run), problem.u + first, slab.memory.data() + run.first,
                             {});
      }
    }
  }

  matrix_view<const T> rows_;
  FilledParts filled_;
  Slabs<A> slabs_;
  simd::ScalingKernels<T, A> kernels_ = simd::scaling_kernels<T, A>();
};

/// Rows of which only entries are stored.
template <class T, class A>
class SparseEntries {
 public:
  SparseEntries(const layout::SparseRows<T>& rows, std::size_t problems, int threads)
      : rows_(&rows), slabs_(rows.rows(), rows.shape.columns, rows.entries(), static_cast<Index>(problems), threads) {}

  template <class F>
  void sweep(std::span<const BatchVectors<A>> problems, std::span<RowsSwept> swept, const F& f) {
    const auto work = [&](const Slab<A>& slab) {
      for (Index i = slab.first; i < slab.first + slab.count; ++i) {
        const auto columns = rows_->columns_of(i);
        const auto values = rows_->values_of(i);
        for (std::size_t p = 0; p < problems.size(); ++p) {
          const auto& [v, u, of_all] = problems[p];
          A* const sums = slab.sums(p).data();
          A sum{0};
          for (std::size_t k = 0; k < columns.size(); ++k) sum += static_cast<A>(values[k]) * v[columns[k]];
          u[i] = f(p, i, sum, slab.swept[p]);
          for (std::size_t k = 0; k < columns.size(); ++k) sums[columns[k]] += u[i] * static_cast<A>(values[k]);
        }
      }
    };
    slabs_.sweep(problems.size(), work, [&](std::size_t k) { return SumsOfSlabs<A>{problems[k].sums, swept[k]}; });
  }

 private:
  const layout::SparseRows<T>* rows_;
  Slabs<A> slabs_;
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
    swept_.reserve(this->problems().size());
  }

  void rows(std::span<const ColumnsOf<A>> columns) override {
    vectors_.clear();
    for (const ColumnsOf<A>& column : columns) {
      Factors<A>& problem = this->problems()[column.problem];
      vectors_.push_back({problem.v.data(), problem.u.data(), column.sums});
    }
    swept_.assign(columns.size(), RowsSwept{});
    operand_.sweep(vectors_, swept_, [&](std::size_t n, Index i, A sum, RowsSwept& swept) {
      return row(this->problems()[columns[n].problem], static_cast<std::size_t>(i), sum, swept);
    });
    for (std::size_t n = 0; n < columns.size(); ++n) {
      Factors<A>& problem = this->problems()[columns[n].problem];
      problem.starved_rows = swept_[n].unreached;
      problem.wanted_of_rows = swept_[n].wanted;
      problem.starved_columns = 0;
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

  [[nodiscard]] A row(const Factors<A>& of, std::size_t i, A sum, RowsSwept& swept) const {
    const double marginal = of.row_marginals[i];
    const A factor = Factors<A>::factor(marginal, sum, of_rows_.exponent(), swept.unreached);
    if (!is_balanced_) swept.wanted += wanted_sum(of_rows_, marginal, factor);
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
  std::vector<RowsSwept> swept_;
};

}  // namespace plait::sinkhorn
