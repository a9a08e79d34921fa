#include "plait/sinkhorn/scaling/sparse.hpp"

#include <cmath>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "plait/base/contract.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/sinkhorn/course/stagnation.hpp"
#include "plait/sinkhorn/exchange/column_sums.hpp"
#include "plait/sinkhorn/marginals/matrix_check.hpp"
#include "plait/sinkhorn/marginals/sparse_support.hpp"
#include "plait/sinkhorn/scaling/iteration.hpp"
#include "plait/sinkhorn/scaling/scaling_run.hpp"

namespace plait::sinkhorn {

namespace {

template <class T, class A>
class SparseIteration final : public FactorIteration<A> {
 public:
  SparseIteration(const layout::SparseRows<T>& rows, const CheckedMarginals& marginals)
      : FactorIteration<A>(marginals.rows, marginals.columns), rows_(rows) {}

  void rows(std::span<A> sums) override {
    const A* v = this->v().data();
    for (Index i = 0; i < rows_.rows(); ++i) {
      const auto columns = rows_.columns_of(i);
      const auto values = rows_.values_of(i);
      A sum{0};
      for (std::size_t k = 0; k < columns.size(); ++k) sum += static_cast<A>(values[k]) * v[columns[k]];
      const A u = this->row_factor(i, sum);
      this->u()[static_cast<std::size_t>(i)] = u;
      for (std::size_t k = 0; k < columns.size(); ++k) sums[columns[k]] += u * static_cast<A>(values[k]);
    }
  }

 private:
  const layout::SparseRows<T>& rows_;
};

}  // namespace

template <class T, class A>
Scaling<A> scale(mpi::Context& context, const layout::SparseRows<T>& rows, const Marginals& marginals,
                 const Limits& limits, std::span<const A> start) {
  mpi::agreed(context, [&](mpi::Alike& arguments) {
    arguments.add_type<T>();
    name_arguments(limits, arguments);
    expect_valid(limits);
  });
  const CheckedMarginals checked = checked_marginals(context, rows.rows(), rows.shape.columns, marginals);
  check_matrix(context, rows, checked);
  auto iteration = mpi::agreed(context, [&] { return SparseIteration<T, A>(rows, checked); });
  SparseSupport<T> support(rows, limits.most_support_bytes);
  const auto prove = [&](std::span<const double> heights) { return support.feasibility(context, checked, heights); };
  const Update plain;
  SumOverRanks<A> sums(context, rows.shape.columns + scaling_riders);
  Outcome outcome = scaling_run<A>(context, {checked, limits, plain, roundoff_of<A>(), prove}, iteration, start,
                                   [&sums](std::span<A> vector) { sums(vector); });
  if (outcome.status == Status::iteration_limit) outcome.reason += support.at_limit();
  return {std::move(outcome), std::move(iteration.u()), std::move(iteration.v())};
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

#define PLAIT_INSTANTIATE(T, A)                                                                           \
  template Scaling<A> scale(mpi::Context&, const layout::SparseRows<T>&, const Marginals&, const Limits&, \
                            std::span<const A>);                                                          \
  template void plan_in_place(layout::SparseRows<T>&, std::span<const A>, std::span<const A>)
PLAIT_INSTANTIATE(double, double);
PLAIT_INSTANTIATE(float, float);
PLAIT_INSTANTIATE(float, double);
#undef PLAIT_INSTANTIATE

template MarginalErrors marginal_errors(mpi::Context&, const layout::SparseRows<double>&, const CheckedMarginals&);
template MarginalErrors marginal_errors(mpi::Context&, const layout::SparseRows<float>&, const CheckedMarginals&);

}  // namespace plait::sinkhorn
