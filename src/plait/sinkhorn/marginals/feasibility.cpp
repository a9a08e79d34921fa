#include "plait/sinkhorn/marginals/feasibility.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "plait/collective/calls.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/simd/row_block.hpp"

namespace plait::sinkhorn {

namespace {

constexpr double utmost = std::numeric_limits<double>::max();

struct Weighted {
  double height = 0;
  double weight = 0;
};

bool is_higher(const Weighted& a, const Weighted& b) { return a.height > b.height; }

struct Column {
  double height = 0;
  double lowest = 0;
  double weight = 0;
};

/// Looks for a proof among the sets of highest rows of one problem.
///
/// \param rows     that are to have a sum
/// \param columns  the highest and the lowest row with an entry in each
Feasibility among_highest(std::vector<Weighted> rows, std::vector<Column> columns, double total) {
  std::ranges::sort(rows, is_higher);
  std::ranges::sort(columns, [](const Column& a, const Column& b) { return a.height > b.height; });
  const double slack = graph::marginals_rounding * total;
  Feasibility found;
  graph::Bottleneck here;
  double lowest_below = utmost;
  std::size_t column = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    here.need += rows[i].weight;
    ++here.rows;
    if (i + 1 == rows.size() || rows[i + 1].height == rows[i].height) continue;
    for (; column < columns.size() && columns[column].height >= rows[i].height; ++column) {
      here.room += columns[column].weight;
      here.columns += 1;
      // Of a column without a sum all entries vanish, and no others for it.
      if (columns[column].weight > 0) lowest_below = std::min(lowest_below, columns[column].lowest);
    }
    const double excess = here.need - here.room;
    if (excess > slack && (!found.is_infeasible || excess > found.bottleneck.need - found.bottleneck.room)) {
      found = {true, false, here};
    }
    const bool others_reach_them = lowest_below < rows[i].height;
    if (!found.is_infeasible && !found.is_tight && others_reach_them && here.is_full() &&
        graph::Bottleneck{0, 0, total - here.room, total - here.need}.is_full()) {
      found = {false, true, here};
    }
  }
  return found;
}

/// What a few problems know of their rows and columns, of all ranks.
struct KnownHeights {
  std::vector<double> columns;  // of each problem the highest row with an entry in each column, and minus the lowest
  std::vector<Weighted> rows;   // of each rank those of each problem; without weight, if they are to have no sum
};

/// \param counts          how many rows each rank names
/// \param for_each_entry  calls f(column) for the entries of a row that a plan may have, columns of the whole matrix
template <class ForEachEntry>
KnownHeights heights_of(mpi::Context& context, Index rows, std::span<const RowHeights> problems, std::size_t columns,
                        std::span<const Index> counts, const ForEachEntry& for_each_entry) {
  KnownHeights found;
  std::vector<Weighted> own;
  std::vector<Index> in_all;
  const auto named = static_cast<std::size_t>(counts[static_cast<std::size_t>(context.rank())]);
  mpi::agreed(context, [&] {
    found.columns.assign(2 * columns * problems.size(), -utmost);
    own.resize(named * problems.size());
    for (const Index count : counts) in_all.push_back(count * static_cast<Index>(problems.size()));
    found.rows.resize(static_cast<std::size_t>(std::accumulate(in_all.begin(), in_all.end(), Index{0})));
    for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i) {
      for (std::size_t k = 0; k < problems.size(); ++k) {
        const double given = problems[k].heights[i];
        const double height = std::isnan(given) ? utmost : std::clamp(given, -utmost, utmost);
        const double marginal = problems[k].marginals->rows[i];
        if (marginal == 0) continue;
        if (named > 0) own[k * named + i] = {height, marginal};
        double* const reached_by = found.columns.data() + 2 * columns * k;
        double* const lowest = reached_by + columns;
        for_each_entry(static_cast<Index>(i), [&](std::size_t j) {
          reached_by[j] = std::max(reached_by[j], height);
          lowest[j] = std::max(lowest[j], -height);
        });
      }
    }
  });
  collective::allreduce(context, std::span<double>(found.columns), simd::ReduceOperation::max);
  collective::all_gather(context, std::span<const Weighted>(own), std::span<Weighted>(found.rows), in_all);
  return found;
}

/// \param begin_rows  whether this rank names its rows
template <class ForEachEntry>
std::vector<Feasibility> feasibilities(mpi::Context& context, Index rows, std::span<const RowHeights> problems,
                                       bool begin_rows, const ForEachEntry& for_each_entry) {
  if (problems.empty()) return {};
  const std::size_t columns = problems.front().marginals->columns.size();
  const auto counts = mpi::all_gather(context.comm(), begin_rows ? rows : Index{0});
  const Index all_rows = std::accumulate(counts.begin(), counts.end(), Index{0});
  // All ranks come to know all rows, of as many problems at a time as that much memory holds.
  constexpr Index most_bytes = Index{64} << 20;
  const auto at_a_time = static_cast<std::size_t>(
      std::max(Index{1}, most_bytes / (Index{sizeof(Weighted)} * std::max(Index{1}, all_rows))));
  std::vector<Feasibility> found;
  for (std::size_t first = 0; first < problems.size(); first += at_a_time) {
    const auto some = problems.subspan(first, std::min(at_a_time, problems.size() - first));
    const KnownHeights heights = heights_of(context, rows, some, columns, counts, for_each_entry);
    mpi::agreed(context, [&] {
      for (std::size_t k = 0; k < some.size(); ++k) {
        std::vector<Weighted> of_rows;
        const Weighted* of_rank = heights.rows.data();
        for (const Index count : counts) {
          std::copy_if(of_rank + static_cast<Index>(k) * count, of_rank + static_cast<Index>(k + 1) * count,
                       std::back_inserter(of_rows), [](const Weighted& row) { return row.weight != 0; });
          of_rank += static_cast<Index>(some.size()) * count;
        }
        const double* const reached_by = heights.columns.data() + 2 * columns * k;
        std::vector<Column> of_columns(columns);
        for (std::size_t j = 0; j < columns; ++j) {
          of_columns[j] = {reached_by[j], -reached_by[columns + j], some[k].marginals->columns[j]};
        }
        found.push_back(among_highest(std::move(of_rows), std::move(of_columns), some[k].marginals->total));
      }
    });
  }
  return found;
}

/// Calls f(column) for those entries of row i that may be in a plan, as `feasibilities` has it.
template <class Rows>
auto entries_of(const Rows& rows, Support support, std::size_t first_column = 0) {
  return [&rows, support, first_column](Index i, const auto& f) {
    for_each_entry(rows, i, [&](std::size_t j, auto stored) {
      const auto entry = simd::widened<simd::FloatOf<decltype(stored)>>(stored);
      const bool is_one =
          support == Support::positive ? counts<Support::positive>(entry) : counts<Support::finite>(entry);
      if (is_one) f(first_column + j);
    });
  };
}

bool is_positive(double marginal) { return marginal > 0; }

}  // namespace

template <class T>
std::vector<Feasibility> feasibility(mpi::Context& context, matrix_view<const T> rows, Support support,
                                     std::span<const RowHeights> problems, const Columns& part) {
  return feasibilities(context, rows.rows(), problems, part.begin_rows(),
                       entries_of(rows, support, static_cast<std::size_t>(part.first)));
}

std::string describe(const graph::Bottleneck& bottleneck) {
  return fmt::format(
      "{} of the rows must sum up to {:.6g}, and all their entries lie in {} of the columns, whose sum is {}{:.6g}",
      bottleneck.rows, bottleneck.need, bottleneck.columns, bottleneck.need > bottleneck.room ? "only " : "",
      bottleneck.room);
}

template <class T>
graph::SupportFound support_of(mpi::Context& context, const layout::SparseRows<T>& rows,
                               const CheckedMarginals& marginals) {
  std::vector<Index> counts;
  std::vector<std::uint32_t> own;
  mpi::agreed(context, [&] {
    for (Index i = 0; i < rows.rows(); ++i) {
      const std::size_t before = own.size();
      entries_of(rows, Support::positive)(
          i, [&own](std::size_t column) { own.push_back(static_cast<std::uint32_t>(column)); });
      counts.push_back(static_cast<Index>(own.size() - before));
    }
  });
  const mpi::Communicator& comm = context.comm();
  std::vector<Index> starts = mpi::gather(comm, std::span<const Index>(counts));
  const auto columns = mpi::gather(comm, std::span<const std::uint32_t>(own));
  std::vector<double> of_rows = mpi::gather(comm, std::span<const double>(marginals.rows));
  std::vector<double> of_columns = mpi::agreed(context, [&] { return marginals.columns; });
  graph::SupportFound found;
  mpi::agreed(context, [&] {
    if (context.rank() != 0) return;
    starts.insert(starts.begin(), 0);
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    if (!marginals.are_uniform || of_rows.empty() || of_columns.empty()) {
      found = graph::support_of({starts, columns, of_rows, of_columns});
      return;
    }
    // Whole numbers in the same proportion; what has no sum keeps none.
    const auto rows_with_one = std::ranges::count_if(of_rows, is_positive);
    const auto columns_with_one = std::ranges::count_if(of_columns, is_positive);
    if (rows_with_one == 0 || columns_with_one == 0) return;
    const double of_row = *std::ranges::find_if(of_rows, is_positive);
    const auto divisor = std::gcd(rows_with_one, columns_with_one);
    const auto unit = static_cast<double>(columns_with_one / divisor);
    const auto replace = [](std::vector<double>& marginals, double with) {
      for (double& marginal : marginals) marginal = marginal > 0 ? with : 0;
    };
    replace(of_columns, static_cast<double>(rows_with_one / divisor));
    replace(of_rows, unit);
    found = graph::support_of({starts, columns, of_rows, of_columns});
    found.bottleneck.need *= of_row / unit;
    found.bottleneck.room *= of_row / unit;
  });
  mpi::broadcast(comm, std::span<graph::SupportFound>(&found, 1), 0);
  return found;
}

template <class T>
Feasibility SparseSupport<T>::feasibility(mpi::Context& context, const RowHeights& problem) {
  const CheckedMarginals& marginals = *problem.marginals;
  if (needed_bytes_ == 0) {
    const Index entries = mpi::all_reduce(context.comm(), rows_.entries(), mpi::Operation::sum());
    needed_bytes_ = graph::bytes_of_support(marginals.all_rows, static_cast<Index>(marginals.columns.size()), entries);
  }
  if (needed_bytes_ > most_bytes_) {
    return feasibilities(context, rows_.rows(), {&problem, 1}, true, entries_of(rows_, Support::positive)).front();
  }
  if (!found_) found_ = support_of(context, rows_, marginals);
  return {found_->kind == graph::SupportKind::none, found_->kind == graph::SupportKind::partial, found_->bottleneck};
}

template <class T>
std::string SparseSupport<T>::at_limit() const {
  if (needed_bytes_ > most_bytes_) {
    return fmt::format(
        "; whether entries have to vanish was not decided, which takes {} MiB on rank 0, expected {} at most",
        needed_bytes_ >> 20, most_bytes_ >> 20);
  }
  if (!found_ || found_->kind != graph::SupportKind::partial) return {};
  return fmt::format("; the entry in row {}, column {} and {} others are in no such matrix", found_->row,
                     found_->column, found_->vanishing - 1);
}

template class SparseSupport<double>;
template class SparseSupport<float>;

#define PLAIT_INSTANTIATE(T)                                                                  \
  template std::vector<Feasibility> feasibility(mpi::Context&, matrix_view<const T>, Support, \
                                                std::span<const RowHeights>, const Columns&)
PLAIT_INSTANTIATE(double);
PLAIT_INSTANTIATE(float);
PLAIT_INSTANTIATE(simd::BFloat16);
#undef PLAIT_INSTANTIATE
template graph::SupportFound support_of(mpi::Context&, const layout::SparseRows<double>&, const CheckedMarginals&);
template graph::SupportFound support_of(mpi::Context&, const layout::SparseRows<float>&, const CheckedMarginals&);

}  // namespace plait::sinkhorn
