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

void MarginalSums::add_sums(std::span<const double> rows, std::span<const double> columns) {
  for (std::size_t i = 0; i < rows.size(); ++i) end_row(static_cast<Index>(i), rows[i]);
  for (std::size_t j = 0; j < columns.size(); ++j) columns_[j] += columns[j];
}

void MarginalSums::end_row(Index i, double sum) {
  off_ += std::abs(sum - marginals_.rows[static_cast<std::size_t>(i)]);
  mass_ += sum;
}

MarginalErrors MarginalSums::errors(mpi::Context& context) { return errors_of(context, {this, 1}).front(); }

std::vector<MarginalErrors> errors_of(mpi::Context& context, std::span<const MarginalSums> plans) {
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

template <class T, class A>
void plan_in_place(layout::SparseRows<T>& rows, std::span<const A> u, std::span<const A> v) {
  PLAIT_ASSERT(static_cast<Index>(u.size()) == rows.rows() && static_cast<Index>(v.size()) == rows.shape.columns,
               "there is a factor for each row and column");
  for (Index i = 0; i < rows.rows(); ++i) {
    const auto columns = rows.columns_of(i);
    const auto values = rows.values_of(i);
    for (std::size_t k = 0; k < columns.size(); ++k) {
      values[k] = static_cast<T>(static_cast<A>(values[k]) * v[columns[k]] * u[static_cast<std::size_t>(i)]);
    }
  }
}

template <class T>
MarginalErrors marginal_errors(mpi::Context& context, const layout::SparseRows<T>& plan,
                               const CheckedMarginals& marginals) {
  auto sums = mpi::agreed(context, [&] { return MarginalSums(marginals); });
  for (Index i = 0; i < plan.rows(); ++i) sums.add_entries(i, plan.columns_of(i), plan.values_of(i));
  return sums.errors(context);
}

template <class T, class A>
std::vector<MarginalErrors> marginal_errors(mpi::Context& context, matrix_view<const T> rows,
                                            std::span<const Scaling<A>> scalings,
                                            std::span<const CheckedMarginals> marginals) {
  std::vector<MarginalSums> sums;
  mpi::agreed(context, [&] {
    std::vector<A> entries(static_cast<std::size_t>(rows.columns()));
    sums.reserve(scalings.size());
    for (const CheckedMarginals& of_problem : marginals) sums.emplace_back(of_problem);
    for (Index i = 0; i < rows.rows(); ++i) {
      const T* row = rows.data() + i * rows.leading_dimension();
      for (std::size_t k = 0; k < scalings.size(); ++k) {
        const A u = scalings[k].u[static_cast<std::size_t>(i)];
        for (std::size_t j = 0; j < entries.size(); ++j) {
          entries[j] = simd::widened<A>(row[j]) * scalings[k].v[j] * u;
        }
        sums[k].add(i, std::span<const A>(entries));
      }
    }
  });
  return errors_of(context, sums);
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

#define PLAIT_INSTANTIATE(T, A)                                                             \
  template std::vector<MarginalErrors> marginal_errors(mpi::Context&, matrix_view<const T>, \
                                                       std::span<const Scaling<A>>, std::span<const CheckedMarginals>)
PLAIT_INSTANTIATE(double, double);
PLAIT_INSTANTIATE(float, float);
PLAIT_INSTANTIATE(float, double);
PLAIT_INSTANTIATE(simd::BFloat16, float);
#undef PLAIT_INSTANTIATE

#define PLAIT_INSTANTIATE(T)                                                                             \
  template void plan_in_place(layout::SparseRows<T>&, std::span<const double>, std::span<const double>); \
  template MarginalErrors marginal_errors(mpi::Context&, const layout::SparseRows<T>&, const CheckedMarginals&)
PLAIT_INSTANTIATE(double);
PLAIT_INSTANTIATE(float);
#undef PLAIT_INSTANTIATE
template void plan_in_place(layout::SparseRows<float>&, std::span<const float>, std::span<const float>);

}  // namespace plait::sinkhorn
