#include "plait/sinkhorn/plan.hpp"

#include <array>
#include <cmath>
#include <vector>

#include "plait/base/contract.hpp"
#include "plait/collective/calls.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/simd/scaling_kernels.hpp"
#include "plait/sinkhorn/sweep.hpp"

namespace plait::sinkhorn {

template <class T, class A>
void plan_in_place(matrix_view<T> rows, std::span<const A> u, std::span<const A> v) {
  PLAIT_ASSERT(static_cast<Index>(u.size()) == rows.rows() && static_cast<Index>(v.size()) == rows.columns(),
               "there is a factor for each row and column");
  const auto kernels = simd::scaling_kernels<T, A>();
  std::vector<A> sums(v.size());
  for_each_block(rows, {4, FetchAhead::none}, [&](Index first, const auto& block, const auto&, const auto&) {
    kernels.rescale(block, u.data() + first, v.data(), sums.data(), {});
  });
}

template <class T>
MarginalErrors marginal_errors(mpi::Context& context, matrix_view<const T> plan, const CheckedMarginals& marginals) {
  auto columns = mpi::agreed(context, [&] { return std::vector<double>(static_cast<std::size_t>(plan.columns())); });
  std::array<double, 2> sums{};  // what rows are off by, and the mass
  for (Index i = 0; i < plan.rows(); ++i) {
    const T* row = plan.data() + i * plan.leading_dimension();
    double sum = 0;
    for (std::size_t j = 0; j < columns.size(); ++j) {
      const double entry = simd::widened<double>(row[j]);
      sum += entry;
      columns[j] += entry;
    }
    sums[0] += std::abs(sum - marginals.rows[static_cast<std::size_t>(i)]);
    sums[1] += sum;
  }
  collective::allreduce(context, std::span<double>(columns), simd::ReduceOperation::sum);
  mpi::all_reduce(context.comm(), sums, mpi::Operation::sum());
  double off = 0;
  for (std::size_t j = 0; j < columns.size(); ++j) off += std::abs(columns[j] - marginals.columns[j]);
  const double total = marginals.total > 0 ? marginals.total : 1;
  return {sums[0] / total, off / total, sums[1]};
}

#define PLAIT_INSTANTIATE(T, A) template void plan_in_place(matrix_view<T>, std::span<const A>, std::span<const A>)
PLAIT_INSTANTIATE(double, double);
PLAIT_INSTANTIATE(float, float);
PLAIT_INSTANTIATE(float, double);
PLAIT_INSTANTIATE(simd::BFloat16, float);
#undef PLAIT_INSTANTIATE

template MarginalErrors marginal_errors(mpi::Context&, matrix_view<const double>, const CheckedMarginals&);
template MarginalErrors marginal_errors(mpi::Context&, matrix_view<const float>, const CheckedMarginals&);
template MarginalErrors marginal_errors(mpi::Context&, matrix_view<const simd::BFloat16>, const CheckedMarginals&);

}  // namespace plait::sinkhorn
