#pragma once

#include <optional>
#include <span>

#include "plait/layout/sparse_rows.hpp"
#include "plait/sinkhorn/support.hpp"
#include "plait/sinkhorn/symmetric_operand.hpp"

namespace plait::sinkhorn {

/// A sparse symmetric matrix of which both triangles are stored: double, or float computed with as double.
///
/// Where iterations are slow it is decided once, on rank 0, whether the matrix has support and total support: see
/// `support_of`.
template <class T>
class SparseSymmetricOperand final : public SymmetricOperand {
 public:
  /// \pre  the rows outlive this
  explicit SparseSymmetricOperand(const layout::SparseRows<T>& rows) : rows_(rows) {}

  [[nodiscard]] Index rows() const override { return rows_.rows(); }
  [[nodiscard]] Index columns() const override { return rows_.shape.columns; }
  /// Entries go to the ranks that have their mirror images, a bounded number at a time.
  void expect_symmetric(mpi::Context& context) const override;
  void multiply(std::span<const double> x, std::span<double> y) override;
  [[nodiscard]] Feasibility feasibility_of(mpi::Context& context, const CheckedMarginals& marginals,
                                           std::span<const double> heights) override;

  /// Where there is support, but no total support: the first entry that vanishes, and how many do. Null where that was
  /// not asked, or is otherwise.
  [[nodiscard]] std::optional<SupportFound> vanishing() const;

 private:
  const layout::SparseRows<T>& rows_;
  std::optional<SupportFound> support_;  // which factors do not change
};

/// B(i, j) ← x[i] A(i, j) x[j] in the place of this rank's rows, as symmetric as A is, to the last bit. Local.
template <class T>
void balance_in_place(layout::SparseRows<T>& rows, std::span<const double> x);

}  // namespace plait::sinkhorn
