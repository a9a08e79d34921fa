#include "plait/sinkhorn/scaling/plan.hpp"

#include <cmath>
#include <vector>

#include "plait/base/contract.hpp"
#include "plait/collective/calls.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/simd/row_block.hpp"
#include "plait/simd/sweep/scaling_kernels.hpp"
#include "plait/sinkhorn/sweep/sweep.hpp"

namespace plait::sinkhorn {

template <class T, class A>
void plan_in_place(matrix_view<T> rows, std::span<const A> u, std::span<const A> v) {
  PLAIT_ASSERT(static_cast<Index>(u.size()) == rows.rows() && static_cast<Index>(v.size()) == rows.columns(),
               "there is a factor for each row and column");
  const auto kernels = simd::scaling_kernels<T, A>();
  std::vector<A> sums(v.size());
  for_each_block(rows, 4, [&](Index first, const auto& block, const auto&, const auto&) {
    kernels.rescale(block, u.data() + first, v.data(), sums.data(), {});
  });
}

MarginalSums::MarginalSums(const CheckedMarginals& marginals)
    : marginals_(marginals), columns_(marginals.columns.size()) {}

template <class T>
void MarginalSums::add(Index i, std::span<const T> row) {
  double sum = 0;
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    const double entry = simd::widened<double>(row[j]);
    sum += entry;
    columns_[j] += entry;
  }
  end_row(i, sum);
}

template <class T>
void MarginalSums::add_entries(Index i, std::span<const std::uint32_t> columns, std::span<const T> entries) {
  double sum = 0;
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const auto entry = static_cast<double>(entries[k]);
    sum += entry;
    columns_[columns[k]] += entry;
  }
  end_row(i, sum);
}

void MarginalSums::end_row(Index i, double sum) {
  off_ += std::abs(sum - marginals_.rows[static_cast<std::size_t>(i)]);
  mass_ += sum;
}

MarginalErrors MarginalSums::errors(mpi::Context& context) { return errors_of_each(context, {this, 1}).front(); }

std::vector<MarginalErrors> errors_of_each(mpi::Context& context, std::span<const MarginalSums> plans) {
  if (plans.empty()) return {};
  const std::size_t n = plans.front().columns_.size();
  std::vector<double> rows;  // what those of each plan are off by, and its mass
  std::vector<double> columns;
  std::vector<MarginalErrors> errors;
  mpi::agreed(context, [&] {
    errors.reserve(plans.size());
    for (const MarginalSums& plan : plans) {
      rows.insert(rows.end(), {plan.off_, plan.mass_});
      columns.insert(columns.end(), plan.columns_.begin(), plan.columns_.end());
    }
  });
  collective::allreduce(context, std::span<double>(columns), simd::ReduceOperation::sum);
  mpi::all_reduce(context.comm(), std::span<double>(rows), mpi::Operation::sum());
  for (std::size_t k = 0; k < plans.size(); ++k) {
    const CheckedMarginals& marginals = plans[k].marginals_;
    double off = 0;
    for (std::size_t j = 0; j < n; ++j) off += std::abs(columns[k * n + j] - marginals.columns[j]);
    const double total = marginals.total > 0 ? marginals.total : 1;
    errors.push_back({rows[2 * k] / total, off / total, rows[2 * k + 1]});
  }
  return errors;
}

template <class T>
MarginalErrors marginal_errors(mpi::Context& context, matrix_view<const T> plan, const CheckedMarginals& marginals) {
  auto sums = mpi::agreed(context, [&] { return MarginalSums(marginals); });
  for (Index i = 0; i < plan.rows(); ++i) {
    sums.add(i,
             std::span<const T>(plan.data() + i * plan.leading_dimension(), static_cast<std::size_t>(plan.columns())));
  }
  return sums.errors(context);
}

template void plan_in_place(matrix_view<double>, std::span<const double>, std::span<const double>);
template void plan_in_place(matrix_view<float>, std::span<const float>, std::span<const float>);
template void plan_in_place(matrix_view<float>, std::span<const double>, std::span<const double>);
template void plan_in_place(matrix_view<simd::BFloat16>, std::span<const float>, std::span<const float>);

template void MarginalSums::add_entries(Index, std::span<const std::uint32_t>, std::span<const double>);
template void MarginalSums::add_entries(Index, std::span<const std::uint32_t>, std::span<const float>);
template void MarginalSums::add(Index, std::span<const double>);
template void MarginalSums::add(Index, std::span<const float>);
template void MarginalSums::add(Index, std::span<const simd::BFloat16>);

template MarginalErrors marginal_errors(mpi::Context&, matrix_view<const double>, const CheckedMarginals&);
template MarginalErrors marginal_errors(mpi::Context&, matrix_view<const float>, const CheckedMarginals&);
template MarginalErrors marginal_errors(mpi::Context&, matrix_view<const simd::BFloat16>, const CheckedMarginals&);

}  // namespace plait::sinkhorn
