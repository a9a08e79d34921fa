#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/base/memory.hpp"
#include "plait/layout/sparse_rows.hpp"
#include "plait/mpi/context.hpp"
#include "plait/simd/row_block.hpp"
#include "plait/simd/sweep/scaling_kernels.hpp"
#include "plait/sinkhorn/marginals/feasibility.hpp"
#include "plait/sinkhorn/sweep/sweep.hpp"

/// A rank's rows of a matrix that is scaled, however they are stored: what iterations by factors ask of them.
namespace plait::sinkhorn {

/// The factors of a problem, and what is known of them. Local.
template <class A>
class Factors {
 public:
  Factors(std::span<const double> rows, std::span<const double> columns)
      : row_marginals(rows), column_marginals(columns), u(rows.size(), A{1}), v(columns.size(), A{1}) {}

  std::span<const double> row_marginals;
  std::span<const double> column_marginals;
  std::vector<A> u;
  std::vector<A> v;
  /// How many rows, and columns, were left without a factor: their sums are 0 or no numbers, their marginals are not 0.
  Index starved_rows = 0;
  Index starved_columns = 0;

  /// \param start  factors of the columns; empty: ones
  void begin_with(std::span<const A> start) {
    for (std::size_t j = 0; j < start.size(); ++j) v[j] = column_marginals[j] > 0 ? start[j] : A{0};
  }

  [[nodiscard]] A of_row(Index i, A sum) noexcept {
    return factor(row_marginals[static_cast<std::size_t>(i)], sum, 1, starved_rows);
  }
  /// \param exponent  see `Update`
  [[nodiscard]] A of_column(std::size_t j, A sum, double exponent = 1) noexcept {
    return factor(column_marginals[j], sum, exponent, starved_columns);
  }

  [[nodiscard]] static A factor(double marginal, A sum, double exponent, Index& starved) noexcept {
    if (marginal == 0) return A{0};
    const double quotient = marginal / static_cast<double>(sum);
    const A found = static_cast<A>(exponent == 1 ? quotient : std::pow(quotient, exponent));
    if (!(found > 0) || !std::isfinite(found)) ++starved;
    return found;
  }
};

/// The vectors of one of several problems that share a matrix.
template <class A>
struct BatchVectors {
  const A* v = nullptr;  // factors of the columns
  A* u = nullptr;        // those of this rank's rows
  std::span<A> sums;     // where the columns are summed up
};

/// Columns of a group of rows that are not all 0 there.
struct ColumnRun {
  Index first = 0;
  Index count = 0;
};

template <class T>
[[nodiscard]] bool has_entry(const T* row, Index columns) {
  unsigned any = 0;
  for (Index j = 0; j < columns; ++j) any |= static_cast<unsigned>(simd::widened<simd::FloatOf<T>>(row[j]) != 0);
  return any != 0;
}

template <class T>
[[nodiscard]] bool is_filled(matrix_view<const T> rows, Index row, Index column, Index count, Index columns) {
  const T* from = rows.data() + row * rows.leading_dimension() + column;
  constexpr Index glance = 8;  // most blocks that are filled are so from the beginning
  if (has_entry(from, std::min(glance, columns))) return true;
  for (Index i = 0; i < count; ++i) {
    if (has_entry(from + i * rows.leading_dimension(), columns)) return true;
  }
  return false;
}

/// Where a matrix has entries that are not 0, in blocks of some rows and columns, so that blocks of zeros are read once
/// and never again. Finding them reads of the other blocks only what comes before their first entry.
class FilledParts {
 public:
  static constexpr Index rows_at_a_time = 8;
  static constexpr Index columns_at_a_time = 64;

  /// \pre  rows is row-major
  template <class T>
  explicit FilledParts(matrix_view<const T> rows) : starts_{0}, all_(rows.rows() * rows.columns()) {
    for (Index row = 0; row < rows.rows(); row += rows_at_a_time) {
      const Index count = std::min(rows_at_a_time, rows.rows() - row);
      bool goes_on = false;
      for (Index column = 0; column < rows.columns(); column += columns_at_a_time) {
        const Index columns = std::min(columns_at_a_time, rows.columns() - column);
        if (!is_filled(rows, row, column, count, columns)) {
          goes_on = false;
          continue;
        }
        if (!goes_on) runs_.push_back({column, 0});
        goes_on = true;
        runs_.back().count += columns;
        filled_ += count * columns;
      }
      starts_.push_back(static_cast<Index>(runs_.size()));
    }
  }

  /// Whether so much is 0 that going from block to block is quicker than reading all.
  [[nodiscard]] bool are_few() const noexcept { return 4 * filled_ < 3 * all_; }
  /// Elements in blocks that are not 0.
  [[nodiscard]] Index elements() const noexcept { return filled_; }

  /// Of rows from group * rows_at_a_time on.
  [[nodiscard]] std::span<const ColumnRun> runs(Index group) const {
    const auto first = static_cast<std::size_t>(starts_[static_cast<std::size_t>(group)]);
    return std::span(runs_).subspan(first,
                                    static_cast<std::size_t>(starts_[static_cast<std::size_t>(group) + 1]) - first);
  }

 private:
  std::vector<Index> starts_;  // of each group, and the end
  std::vector<ColumnRun> runs_;
  Index filled_ = 0;
  Index all_ = 0;
};

/// Some columns of a group of rows.
template <class T>
[[nodiscard]] simd::RowBlock<const T> filled_block(matrix_view<const T> rows, Index first, Index count,
                                                   const ColumnRun& run) {
  return {rows.data() + first * rows.leading_dimension() + run.first, count, run.count, rows.leading_dimension()};
}

/// Rows that are stored one after the other. Blocks of zeros are read once, see `FilledParts`.
template <class T, class A>
class DenseRows {
 public:
  using SumsOfBlock = std::array<A, simd::most_rows_at_a_time>;

  /// \param problems  the most that are swept at once
  explicit DenseRows(matrix_view<const T> rows, std::size_t problems = 1, int threads = 1)
      : rows_(rows),
        filled_(rows),
        slabs_(rows.rows(), rows.columns(), rows.rows() * rows.columns(), static_cast<Index>(problems), threads),
        of_blocks_(static_cast<std::size_t>(slabs_.threads()) * problems) {}

  [[nodiscard]] Index columns() const noexcept { return rows_.columns(); }
  /// The ranks over which columns are summed up: all.
  [[nodiscard]] mpi::Context& column_context(mpi::Context& all) const noexcept { return all; }

  /// Gives each problem u[i] = f(problem, i, Σ_j K(i, j) v[j], swept), and adds Σ_i u[i] K(i, j) to its sums: one read.
  template <class F>
  void sweep(std::span<const BatchVectors<A>> problems, std::span<RowsSwept> swept, const F& f) {
    sweep_in_common(problems, swept, [&](Index first, Index count, const SumsOfBlock* sums, const Slab<A>& slab) {
      for (std::size_t k = 0; k < problems.size(); ++k) {
        for (Index n = 0; n < count; ++n) {
          problems[k].u[first + n] = f(k, first + n, sums[k][static_cast<std::size_t>(n)], slab.swept[k]);
        }
      }
    });
  }

  /// The same, but move(first, count, sums, slab) gives some rows their u of all problems, of each of which `sums` has
  /// theirs.
  template <class Move>
  void sweep_in_common(std::span<const BatchVectors<A>> problems, std::span<RowsSwept> swept, const Move& move) {
    const auto work = [&](const Slab<A>& slab) {
      SumsOfBlock* const sums = of_blocks_.data() + slab.thread * problems.size();
      if (problems.size() == 1 && filled_.are_few()) return sweep_filled(problems.front(), slab, *sums, move);
      const Index row_bytes = std::max(Index{1}, rows_.columns()) * Index{sizeof(T)};
      const Index at_a_time = problems.size() == 1
                                  ? rows_at_a_time(rows_.columns(), Index{sizeof(T)})
                                  : std::clamp(cache_bytes() / 2 / row_bytes, Index{1}, simd::most_rows_at_a_time);
      for_each_block(rows_of(rows_, slab.first, slab.count), at_a_time,
                     [&](Index done, const auto& block, const auto& early, const auto& late) {
                       const Index first = slab.first + done;
                       for (std::size_t k = 0; k < problems.size(); ++k) {
                         kernels_.row_sums(block, problems[k].v, sums[k].data(), k == 0 ? early : Ahead{});
                       }
                       move(first, block.rows, sums, slab);
                       for (std::size_t k = 0; k < problems.size(); ++k) {
                         kernels_.column_sums(block, problems[k].u + first, slab.sums(k).data(),
                                              k + 1 == problems.size() ? late : Ahead{});
                       }
                     });
    };
    slabs_.sweep(problems.size(), work, [&](std::size_t k) { return SumsOfSlabs<A>{problems[k].sums, swept[k]}; });
  }

  /// y[i] = Σ_j K(i, j) x[j]: one read.
  void multiply(const A* x, A* y) const {
    constexpr Index step = FilledParts::rows_at_a_time;
#pragma omp parallel for schedule(static) num_threads(slabs_.threads()) if (slabs_.threads() > 1)
    for (Index first = 0; first < rows_.rows(); first += step) {
      const Index count = std::min(step, rows_.rows() - first);
      if (filled_.are_few()) {
        sums_of_filled(first, count, x, y + first);
      } else {
        kernels_.row_sums(block_of(rows_, first, count), x, y + first, {});
      }
    }
  }

  /// See `sinkhorn::feasibility`. Collective over `context`.
  [[nodiscard]] std::vector<Feasibility> feasibility(mpi::Context& context, std::span<const RowHeights> problems) {
    return sinkhorn::feasibility<T>(context, rows_, Support::positive, problems);
  }
  /// What the reason of a run that came to the limit of its iterations ends with; empty for nothing.
  [[nodiscard]] std::string at_limit() const { return {}; }

 private:
  using Ahead = simd::RowsAhead<T>;

  void sums_of_filled(Index first, Index count, const A* x, A* sums) const {
    SumsOfBlock parts{};
    std::fill_n(sums, count, A{0});
    for (const ColumnRun& run : filled_.runs(first / FilledParts::rows_at_a_time)) {
      kernels_.row_sums(filled_block(rows_, first, count, run), x + run.first, parts.data(), {});
      for (Index i = 0; i < count; ++i) sums[i] += parts[static_cast<std::size_t>(i)];
    }
  }

  template <class Move>
  void sweep_filled(const BatchVectors<A>& problem, const Slab<A>& slab, SumsOfBlock& sums, const Move& move) const {
    static_assert(Slabs<A>::rows_at_a_time == FilledParts::rows_at_a_time);
    for (Index first = slab.first; first < slab.first + slab.count; first += FilledParts::rows_at_a_time) {
      const Index count = std::min(FilledParts::rows_at_a_time, slab.first + slab.count - first);
      sums_of_filled(first, count, problem.v, sums.data());
      move(first, count, &sums, slab);
      for (const ColumnRun& run : filled_.runs(first / FilledParts::rows_at_a_time)) {
        kernels_.column_sums(filled_block(rows_, first, count, run), problem.u + first, slab.memory.data() + run.first,
                             {});
      }
    }
  }

  matrix_view<const T> rows_;
  FilledParts filled_;
  Slabs<A> slabs_;
  AlignedVector<SumsOfBlock> of_blocks_;  // of each thread and problem
  simd::ScalingKernels<T, A> kernels_ = simd::scaling_kernels<T, A>();
};

/// Rows of which only entries are stored, of one problem.
template <class T, class A>
class SparseEntries {
 public:
  /// \param most_support_bytes  see `SparseSupport`
  explicit SparseEntries(const layout::SparseRows<T>& rows, Index most_support_bytes, int threads = 1)
      : rows_(&rows),
        slabs_(rows.rows(), rows.shape.columns, rows.entries(), 1, threads),
        support_(rows, most_support_bytes) {}

  [[nodiscard]] Index columns() const noexcept { return rows_->shape.columns; }
  [[nodiscard]] mpi::Context& column_context(mpi::Context& all) const noexcept { return all; }

  template <class F>
  void sweep(std::span<const BatchVectors<A>> problems, std::span<RowsSwept> swept, const F& f) {
    const auto work = [&](const Slab<A>& slab) {
      A* const sums = slab.memory.data();
      for (Index i = slab.first; i < slab.first + slab.count; ++i) {
        const auto columns = rows_->columns_of(i);
        const auto values = rows_->values_of(i);
        const A u = problems[0].u[i] = f(std::size_t{0}, i, sum_of(i, problems[0].v), slab.swept[0]);
        for (std::size_t k = 0; k < columns.size(); ++k) sums[columns[k]] += u * static_cast<A>(values[k]);
      }
    };
    slabs_.sweep(1, work, [&](std::size_t) { return SumsOfSlabs<A>{problems[0].sums, swept[0]}; });
  }
  void multiply(const A* x, A* y) const {
#pragma omp parallel for schedule(static) num_threads(slabs_.threads()) if (slabs_.threads() > 1)
    for (Index i = 0; i < rows_->rows(); ++i) y[i] = sum_of(i, x);
  }

  [[nodiscard]] std::vector<Feasibility> feasibility(mpi::Context& context, std::span<const RowHeights> problems) {
    return {support_.feasibility(context, problems.front())};
  }
  [[nodiscard]] std::string at_limit() const { return support_.at_limit(); }

 private:
  [[nodiscard]] A sum_of(Index i, const A* v) const {
    const auto columns = rows_->columns_of(i);
    const auto values = rows_->values_of(i);
    A sum{0};
    for (std::size_t k = 0; k < columns.size(); ++k) sum += static_cast<A>(values[k]) * v[columns[k]];
    return sum;
  }

  const layout::SparseRows<T>* rows_;
  Slabs<A> slabs_;
  SparseSupport<T> support_;
};

/// This rank's rows, however they are stored, as what is swept for so many problems by all threads of the rank.
///
/// \param most_support_bytes  see `SparseSupport`
template <class A, class T>
[[nodiscard]] DenseRows<T, A> swept_rows(const mpi::Context& context, matrix_view<const T> rows, std::size_t problems,
                                         Index /*most_support_bytes*/) {
  return DenseRows<T, A>(rows, problems, context.topology().threads());
}
template <class A, class T>
[[nodiscard]] SparseEntries<T, A> swept_rows(const mpi::Context& context, const layout::SparseRows<T>& rows,
                                             std::size_t /*problems*/, Index most_support_bytes) {
  return SparseEntries<T, A>(rows, most_support_bytes, context.topology().threads());
}

}  // namespace plait::sinkhorn
