#include "plait/sinkhorn/costs/reach.hpp"

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "plait/collective/calls.hpp"
#include "plait/mpi/agreed.hpp"

namespace plait::sinkhorn {

template <class T>
CheckedMarginals reachable(mpi::Context& context, matrix_view<const T> costs, const CheckedMarginals& marginals) {
  std::vector<std::uint8_t> is_reached;
  CheckedMarginals left;
  mpi::agreed(context, [&] {
    left = marginals;
    is_reached.resize(marginals.columns.size());
  });
  for (std::size_t i = 0; i < left.rows.size(); ++i) {
    if (left.rows[i] == 0) continue;
    const T* row = costs.data() + static_cast<Index>(i) * costs.leading_dimension();
    bool reaches = false;
    for (std::size_t j = 0; j < is_reached.size(); ++j) {
      if (!std::isfinite(row[j])) continue;
      is_reached[j] = 1;
      reaches = reaches || marginals.columns[j] > 0;
    }
    if (!reaches) left.rows[i] = 0;
  }
  collective::allreduce(context, std::span<std::uint8_t>(is_reached), simd::ReduceOperation::max);
  for (std::size_t j = 0; j < is_reached.size(); ++j) {
    if (is_reached[j] == 0) left.columns[j] = 0;
  }
  return left;
}

template CheckedMarginals reachable(mpi::Context&, matrix_view<const double>, const CheckedMarginals&);
template CheckedMarginals reachable(mpi::Context&, matrix_view<const float>, const CheckedMarginals&);

}  // namespace plait::sinkhorn
