#pragma once

#include <span>
#include <string>

#include "plait/layout/sparse_rows.hpp"
#include "plait/sinkhorn/balance/symmetric_operand.hpp"
#include "plait/sinkhorn/marginals/sparse_support.hpp"

namespace plait::sinkhorn {

/// A sparse symmetric matrix of which both triangles are stored: double, or float computed with as double.
///
/// Where iterations are slow it is decided once, on rank 0, whether the matrix has support and total support, if that
/// takes no more than `most_support_bytes` there: see `SparseSupport`.
template <class T>
class SparseSymmetricOperand final : public SymmetricOperand {
 public:
  /// \pre  the rows outlive this
  explicit SparseSymmetricOperand(const layout::SparseRows<T>& rows, Index most_support_bytes = Index{4} << 30)
      : rows_(rows), support_(rows, most_support_bytes) {}

  [[nodiscard]] Index rows() const override { return rows_.rows(); }
  [[nodiscard]] Index columns() const override { return rows_.shape.columns; }
  /// Entries go to the ranks that have their mirror images, a bounded number at a time.
  void expect_symmetric(mpi::Context& context) const override;
  void multiply(std::span<const double> x, std::span<double> y) override;
  [[nodiscard]] Feasibility feasibility_of(mpi::Context& context, const CheckedMarginals& marginals,
                                           std::span<const double> heights) override;

  /// Of the support.
  [[nodiscard]] std::string at_limit() const override { return support_.at_limit(); }

 private:
  const layout::SparseRows<T>& rows_;
  SparseSupport<T> support_;
};

/// B(i, j) ← x[i] A(i, j) x[j] in the place of this rank's rows, as symmetric as A is, to the last bit. Local.
template <class T>
void balance_in_place(layout::SparseRows<T>& rows, std::span<const double> x);

}  // namespace plait::sinkhorn
