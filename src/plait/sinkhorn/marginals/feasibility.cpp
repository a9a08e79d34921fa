#include "plait/sinkhorn/marginals/feasibility.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "plait/collective/calls.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/simd/row_block.hpp"

namespace plait::sinkhorn {

namespace {

struct Weighted {
  double height = 0;
  double weight = 0;
};

bool is_higher(const Weighted& a, const Weighted& b) { return a.height > b.height; }

std::vector<Weighted> of_all_ranks(mpi::Context& context, const std::vector<Weighted>& own) {
  const auto counts = mpi::all_gather(context.comm(), static_cast<Index>(own.size()));
  const Index count = std::accumulate(counts.begin(), counts.end(), Index{0});
  auto all = mpi::agreed(context, [&] { return std::vector<Weighted>(static_cast<std::size_t>(count)); });
  collective::all_gather(context, std::span<const Weighted>(own), std::span<Weighted>(all), counts);
  return all;
}

/// Looks for a proof among the sets of highest rows.
///
/// \param rows           of this rank
/// \param begins_a_row   whether this rank names its rows
/// \param for_each_entry  calls f(column) for the entries of a row that a plan may have, columns of the whole matrix
template <class ForEachEntry>
Feasibility feasibility_of(mpi::Context& context, Index rows, const CheckedMarginals& marginals,
                           std::span<const double> heights, bool begins_a_row, const ForEachEntry& for_each_entry) {
  constexpr double highest = std::numeric_limits<double>::max();
  const std::size_t columns = marginals.columns.size();
  // The highest row with an entry in each column, and minus the lowest one, so that one reduction does for both.
  std::vector<double> both;
  std::vector<Weighted> own;
  mpi::agreed(context, [&] {
    both.assign(2 * columns, -highest);
    const std::span<double> reached_by = std::span(both).first(columns);
    const std::span<double> lowest = std::span(both).last(columns);
    for (Index i = 0; i < rows; ++i) {
      const double given = heights[static_cast<std::size_t>(i)];
      const double height = std::isnan(given) ? highest : std::clamp(given, -highest, highest);
      const double marginal = marginals.rows[static_cast<std::size_t>(i)];
      if (marginal == 0) continue;
      if (begins_a_row) own.push_back({height, marginal});
      for_each_entry(i, [&](std::size_t j) {
        reached_by[j] = std::max(reached_by[j], height);
        lowest[j] = std::max(lowest[j], -height);
      });
    }
  });
  collective::allreduce(context, std::span<double>(both), simd::ReduceOperation::max);

  std::vector<Weighted> all_rows = of_all_ranks(context, own);
  std::ranges::sort(all_rows, is_higher);
  struct Column {
    double height;
    double lowest;
    double weight;
  };
  auto all_columns = mpi::agreed(context, [&] { return std::vector<Column>(columns); });
  for (std::size_t j = 0; j < columns; ++j) all_columns[j] = {both[j], -both[columns + j], marginals.columns[j]};
  std::ranges::sort(all_columns, [](const Column& a, const Column& b) { return a.height > b.height; });

  constexpr double tolerance = 1e-9;  // of the sum of all: marginals were rounded
  const double slack = tolerance * marginals.total;
  Feasibility found;
  Bottleneck here;
  double lowest_below = highest;
  std::size_t column = 0;
  for (std::size_t i = 0; i < all_rows.size(); ++i) {
    here.need += all_rows[i].weight;
    ++here.rows;
    if (i + 1 == all_rows.size() || all_rows[i + 1].height == all_rows[i].height) continue;
    for (; column < columns && all_columns[column].height >= all_rows[i].height; ++column) {
      here.room += all_columns[column].weight;
      here.columns += 1;
      lowest_below = std::min(lowest_below, all_columns[column].lowest);
    }
    const double excess = here.need - here.room;
    if (excess > slack && (!found.is_infeasible || excess > found.bottleneck.need - found.bottleneck.room)) {
      found = {true, false, here};
    }
    const bool others_reach_them = lowest_below < all_rows[i].height;
    if (!found.is_infeasible && !found.is_tight && std::abs(excess) <= slack && others_reach_them) {
      found = {false, true, here};
    }
  }
  return found;
}

}  // namespace

template <class T>
Feasibility feasibility(mpi::Context& context, matrix_view<const T> rows, Support support,
                        const CheckedMarginals& marginals, std::span<const double> heights, Columns part) {
  using Number = simd::FloatOf<T>;
  const auto is_entry = [support](Number entry) {
    return support == Support::positive ? entry > 0 : entry <= std::numeric_limits<Number>::max();
  };
  const auto first = static_cast<std::size_t>(part.first);
  const auto own_columns = static_cast<std::size_t>(rows.columns());
  return feasibility_of(context, rows.rows(), marginals, heights, part.begins_a_row, [&](Index i, const auto& entry) {
    const T* row = rows.data() + i * rows.leading_dimension();
    for (std::size_t j = 0; j < own_columns; ++j) {
      if (is_entry(simd::widened<Number>(row[j]))) entry(first + j);
    }
  });
}

template <class T>
Feasibility feasibility(mpi::Context& context, const layout::SparseRows<T>& rows, const CheckedMarginals& marginals,
                        std::span<const double> heights) {
  return feasibility_of(context, rows.rows(), marginals, heights, true, [&](Index i, const auto& entry) {
    const auto columns = rows.columns_of(i);
    const auto values = rows.values_of(i);
    for (std::size_t k = 0; k < columns.size(); ++k) {
      if (values[k] > 0) entry(std::size_t{columns[k]});
    }
  });
}

std::string describe(const Bottleneck& bottleneck, const AxisNames& names) {
  return fmt::format("{} of the {} are to sum up to {:.6g}, and all their entries lie in {} {}, which {} {:.6g}",
                     bottleneck.rows, names.rows(), bottleneck.need, bottleneck.columns, names.columns(),
                     bottleneck.need > bottleneck.room ? "may sum up only to" : "sum up to", bottleneck.room);
}

#define PLAIT_INSTANTIATE(T)                                                                              \
  template Feasibility feasibility(mpi::Context&, matrix_view<const T>, Support, const CheckedMarginals&, \
                                   std::span<const double>, Columns)
PLAIT_INSTANTIATE(double);
PLAIT_INSTANTIATE(float);
PLAIT_INSTANTIATE(simd::BFloat16);
#undef PLAIT_INSTANTIATE

template Feasibility feasibility(mpi::Context&, const layout::SparseRows<double>&, const CheckedMarginals&,
                                 std::span<const double>);
template Feasibility feasibility(mpi::Context&, const layout::SparseRows<float>&, const CheckedMarginals&,
                                 std::span<const double>);

}  // namespace plait::sinkhorn
