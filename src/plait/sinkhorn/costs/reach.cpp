#include "plait/sinkhorn/costs/reach.hpp"

#include <cmath>
#include <cstdint>

#include "plait/collective/calls.hpp"
#include "plait/mpi/agreed.hpp"

namespace plait::sinkhorn {

template <class T>
std::vector<CheckedMarginals> reachable(mpi::Context& context, matrix_view<const T> costs,
                                        std::span<const CheckedMarginals> problems) {
  const auto columns = static_cast<std::size_t>(costs.columns());
  std::vector<std::uint8_t> is_reached;  // all columns of one problem behind those of the one before
  std::vector<CheckedMarginals> left;
  mpi::agreed(context, [&] {
    left.assign(problems.begin(), problems.end());
    is_reached.resize(problems.size() * columns);
  });
  for (Index i = 0; i < costs.rows(); ++i) {
    const T* row = costs.data() + i * costs.leading_dimension();
    for (std::size_t k = 0; k < left.size(); ++k) {
      double& mass = left[k].rows[static_cast<std::size_t>(i)];
      if (mass == 0) continue;
      std::uint8_t* const reached = is_reached.data() + k * columns;
      bool reaches = false;
      for (std::size_t j = 0; j < columns; ++j) {
        if (!std::isfinite(row[j])) continue;
        reached[j] = 1;
        reaches = reaches || problems[k].columns[j] > 0;
      }
      if (!reaches) mass = 0;
    }
  }
  if (!problems.empty()) {
    collective::allreduce(context, std::span<std::uint8_t>(is_reached), simd::ReduceOperation::max);
  }
  for (std::size_t n = 0; n < is_reached.size(); ++n) {
    if (is_reached[n] == 0) left[n / columns].columns[n % columns] = 0;
  }
  return left;
}

template std::vector<CheckedMarginals> reachable(mpi::Context&, matrix_view<const double>,
                                                 std::span<const CheckedMarginals>);
template std::vector<CheckedMarginals> reachable(mpi::Context&, matrix_view<const float>,
                                                 std::span<const CheckedMarginals>);

}  // namespace plait::sinkhorn
