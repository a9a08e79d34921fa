#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/layout/sparse_rows.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/marginals/marginals.hpp"
#include "plait/sinkhorn/scaling/scale.hpp"

namespace plait::sinkhorn {

/// K(i, j) ← u[i] K(i, j) v[j]: the plan in the place of the matrix. Local.
///
/// \pre  rows is row-major; u has a factor for each of its rows, v for each column
template <class T, class A>
void plan_in_place(matrix_view<T> rows, std::span<const A> u, std::span<const A> v);

/// What the marginals of a plan are off by: Σ |sum - marginal| / Σ marginals.
struct MarginalErrors {
  double rows = 0;
  double columns = 0;
  double mass = 0;  // the sum of the plan
};

/// What the errors of a plan are summed up by that comes row by row.
class MarginalSums {
 public:
  explicit MarginalSums(const CheckedMarginals& marginals);  // which outlive it
  /// Row i of this rank's.
  template <class T>
  void add(Index i, std::span<const T> row);
  /// The same of a row that is 0 but for some columns.
  template <class T>
  void add_entries(Index i, std::span<const std::uint32_t> columns, std::span<const T> entries);
  /// All of this rank's rows at once, by their sums and by those of the columns.
  void add_sums(std::span<const double> rows, std::span<const double> columns);
  /// Collective over `context`.
  [[nodiscard]] MarginalErrors errors(mpi::Context& context);

  friend std::vector<MarginalErrors> errors_of(mpi::Context& context, std::span<const MarginalSums> plans);

 private:
  void end_row(Index i, double sum);

  const CheckedMarginals& marginals_;
  std::vector<double> columns_;
  double off_ = 0;
  double mass_ = 0;
};

/// Of several plans of one shape, by as many messages as of one. Collective over `context`.
[[nodiscard]] std::vector<MarginalErrors> errors_of(mpi::Context& context, std::span<const MarginalSums> plans);

/// Sums the plan up, in double, whatever it was computed with. Collective over `context`.
template <class T>
[[nodiscard]] MarginalErrors marginal_errors(mpi::Context& context, matrix_view<const T> plan,
                                             const CheckedMarginals& marginals);

/// K(i, j) ← u[i] K(i, j) v[j]. Local.
template <class T, class A>
void plan_in_place(layout::SparseRows<T>& rows, std::span<const A> u, std::span<const A> v);

/// The same of a sparse plan.
template <class T>
[[nodiscard]] MarginalErrors marginal_errors(mpi::Context& context, const layout::SparseRows<T>& plan,
                                             const CheckedMarginals& marginals);

/// The same of each of these scalings: the matrix is read once, and there are as many messages as for one.
/// Collective over `context`.
template <class T, class A>
[[nodiscard]] std::vector<MarginalErrors> marginal_errors(mpi::Context& context, matrix_view<const T> rows,
                                                          std::span<const Scaling<A>> scalings,
                                                          std::span<const CheckedMarginals> marginals);

}  // namespace plait::sinkhorn
