#include "plait/sinkhorn/marginals/sparse_support.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "plait/collective/calls.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/simd/row_block.hpp"

namespace plait::sinkhorn {

namespace {

template <class U>
std::vector<U> gathered(mpi::Context& context, const std::vector<U>& own) {
  const auto counts = mpi::all_gather(context.comm(), static_cast<Index>(own.size()));
  const Index count = std::accumulate(counts.begin(), counts.end(), Index{0});
  // To rank 0 alone: to others nothing is sent.
  std::vector<Index> sends(counts.size(), 0);
  std::vector<Index> receives(counts.size(), 0);
  sends[0] = static_cast<Index>(own.size());
  if (context.rank() == 0) receives = counts;
  auto all = mpi::agreed(
      context, [&] { return std::vector<U>(context.rank() == 0 ? static_cast<std::size_t>(count) : std::size_t{0}); });
  collective::all_to_all(context, std::span<const U>(own), sends, std::span<U>(all), receives);
  return all;
}

bool is_positive(double marginal) { return marginal > 0; }

}  // namespace

template <class T>
graph::SupportFound support_of(mpi::Context& context, const layout::SparseRows<T>& rows,
                               const CheckedMarginals& marginals) {
  std::vector<Index> counts;
  std::vector<std::uint32_t> own;
  mpi::agreed(context, [&] {
    for (Index i = 0; i < rows.rows(); ++i) {
      const auto columns = rows.columns_of(i);
      const auto values = rows.values_of(i);
      Index count = 0;
      for (std::size_t k = 0; k < columns.size(); ++k) {
        if (!(simd::widened<double>(values[k]) > 0)) continue;
        own.push_back(columns[k]);
        ++count;
      }
      counts.push_back(count);
    }
  });
  std::vector<Index> starts = gathered(context, counts);
  const auto columns = gathered(context, own);
  std::vector<double> of_rows = gathered(context, marginals.rows);
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
  mpi::broadcast(context.comm(), std::span<graph::SupportFound>(&found, 1), 0);
  return found;
}

template <class T>
Feasibility SparseSupport<T>::feasibility(mpi::Context& context, const CheckedMarginals& marginals,
                                          std::span<const double> heights) {
  if (needed_bytes_ == 0) {
    const Index entries = mpi::all_reduce(context.comm(), rows_.entries(), mpi::Operation::sum());
    needed_bytes_ = graph::bytes_of_support(marginals.all_rows, static_cast<Index>(marginals.columns.size()), entries);
  }
  if (needed_bytes_ > most_bytes_) return sinkhorn::feasibility<T>(context, rows_, marginals, heights);
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

#define PLAIT_INSTANTIATE(T) \
  template graph::SupportFound support_of(mpi::Context&, const layout::SparseRows<T>&, const CheckedMarginals&)
PLAIT_INSTANTIATE(double);
PLAIT_INSTANTIATE(float);
#undef PLAIT_INSTANTIATE

}  // namespace plait::sinkhorn
