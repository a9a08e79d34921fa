#include "plait/sinkhorn/feasibility.hpp"

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

}  // namespace

template <class T>
Feasibility feasibility(mpi::Context& context, matrix_view<const T> rows, Support support,
                        const CheckedMarginals& marginals, std::span<const double> heights, Columns part) {
  using Number = simd::FloatOf<T>;
  constexpr double highest = std::numeric_limits<double>::max();
  const auto is_entry = [support](Number entry) {
    return support == Support::positive ? entry > 0 : entry <= std::numeric_limits<Number>::max();
  };
  const std::size_t columns = marginals.columns.size();
  const auto own_columns = static_cast<std::size_t>(rows.columns());
  // The highest row with an entry in each column, and minus the lowest one, so that one reduction does for both.
  std::vector<double> both;
  std::vector<Weighted> own;
  mpi::agreed(context, [&] {
    both.assign(2 * columns, -highest);
    const auto first = static_cast<std::size_t>(part.first);
    const std::span<double> reached_by = std::span(both).subspan(first, own_columns);
    const std::span<double> lowest = std::span(both).subspan(columns + first, own_columns);
    for (Index i = 0; i < rows.rows(); ++i) {
      const double given = heights[static_cast<std::size_t>(i)];
      const double height = std::isnan(given) ? highest : std::clamp(given, -highest, highest);
      const double marginal = marginals.rows[static_cast<std::size_t>(i)];
      if (marginal == 0) continue;
      if (part.begins_a_row) own.push_back({height, marginal});
      const T* row = rows.data() + i * rows.leading_dimension();
      for (std::size_t j = 0; j < own_columns; ++j) {
        if (!is_entry(simd::widened<Number>(row[j]))) continue;
        reached_by[j] = std::max(reached_by[j], height);
        lowest[j] = std::max(lowest[j], -height);
      }
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

}  // namespace plait::sinkhorn
