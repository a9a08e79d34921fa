#include "plait/sinkhorn/balance/symmetric_operand.hpp"

#include "plait/base/contract.hpp"
#include "plait/simd/sweep/scaling_kernels.hpp"
#include "plait/sinkhorn/marginals/matrix_check.hpp"
#include "plait/sinkhorn/marginals/symmetry.hpp"
#include "plait/sinkhorn/sweep/sweep.hpp"

namespace plait::sinkhorn {

template <class T>
void balance_in_place(matrix_view<T> rows, Index first_row, std::span<const double> x) {
  for (Index i = 0; i < rows.rows(); ++i) {
    T* row = rows.data() + i * rows.leading_dimension();
    const double own = x[static_cast<std::size_t>(first_row + i)];
    for (std::size_t j = 0; j < x.size(); ++j) {
      row[j] = static_cast<T>(balanced_entry(static_cast<double>(row[j]), own, x[j]));
    }
  }
}

template void balance_in_place(matrix_view<double>, Index, std::span<const double>);
template void balance_in_place(matrix_view<float>, Index, std::span<const double>);

template <class T>
void DenseSymmetricOperand<T>::expect_symmetric(mpi::Context& context) const {
  check_matrix<T>(context, rows_, zero_marginals(context, rows(), columns(), names()));
  sinkhorn::expect_symmetric<T>(context, rows_, names());
}

template <class T>
void DenseSymmetricOperand<T>::multiply(std::span<const double> x, std::span<double> y) {
  const auto kernels = simd::scaling_kernels<T, double>();
  if (filled_.are_few()) return filled_row_sums(kernels, rows_, filled_, x.data(), y.data());
  for_each_block(rows_, 4, [&](Index first, const auto& block, const auto&, const auto&) {
    kernels.row_sums(block, x.data(), y.data() + first, {});
  });
}

template <class T>
Feasibility DenseSymmetricOperand<T>::feasibility_of(mpi::Context& context, const RowHeights& problem) {
  return feasibility<T>(context, rows_, Support::positive, {&problem, 1}).front();
}

template class DenseSymmetricOperand<double>;
template class DenseSymmetricOperand<float>;

template <class T>
void SparseSymmetricOperand<T>::expect_symmetric(mpi::Context& context) const {
  check_matrix(context, rows_, zero_marginals(context, rows(), columns()));
  sinkhorn::expect_symmetric<T>(context, rows_);
}

template <class T>
void SparseSymmetricOperand<T>::multiply(std::span<const double> x, std::span<double> y) {
  for (Index i = 0; i < rows_.rows(); ++i) {
    const auto columns = rows_.columns_of(i);
    const auto values = rows_.values_of(i);
    double sum = 0;
    for (std::size_t k = 0; k < columns.size(); ++k) sum += static_cast<double>(values[k]) * x[columns[k]];
    y[static_cast<std::size_t>(i)] = sum;
  }
}

template <class T>
Feasibility SparseSymmetricOperand<T>::feasibility_of(mpi::Context& context, const RowHeights& problem) {
  return support_.feasibility(context, problem);
}

template <class T>
void balance_in_place(layout::SparseRows<T>& rows, std::span<const double> x) {
  PLAIT_ASSERT(static_cast<Index>(x.size()) == rows.shape.columns, "there is a factor for each row");
  for (Index i = 0; i < rows.rows(); ++i) {
    const auto columns = rows.columns_of(i);
    const auto values = rows.values_of(i);
    const double own = x[static_cast<std::size_t>(rows.first_row + i)];
    for (std::size_t k = 0; k < columns.size(); ++k) {
      values[k] = static_cast<T>(balanced_entry(static_cast<double>(values[k]), own, x[columns[k]]));
    }
  }
}

template class SparseSymmetricOperand<double>;
template class SparseSymmetricOperand<float>;
template void balance_in_place(layout::SparseRows<double>&, std::span<const double>);
template void balance_in_place(layout::SparseRows<float>&, std::span<const double>);

}  // namespace plait::sinkhorn
