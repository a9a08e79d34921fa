#pragma once

#include <algorithm>
#include <span>
#include <string>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/layout/sparse_rows.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/marginals/feasibility.hpp"
#include "plait/sinkhorn/marginals/marginals.hpp"
#include "plait/sinkhorn/sweep/filled_parts.hpp"

namespace plait::sinkhorn {

/// A distributed symmetric matrix of numbers >= 0 as `balance` sees it, however it is stored. Every rank has some rows,
/// rank 0 the first ones; any number of them, also none.
class SymmetricOperand {
 public:
  /// \param names  of the matrix that was given, where this one is its transpose
  explicit SymmetricOperand(AxisNames names = {}) : names_(names) {}
  SymmetricOperand(const SymmetricOperand&) = delete;
  SymmetricOperand& operator=(const SymmetricOperand&) = delete;
  virtual ~SymmetricOperand() = default;

  /// Of this rank.
  [[nodiscard]] virtual Index rows() const = 0;
  [[nodiscard]] virtual Index columns() const = 0;

  /// Collective over `context`.
  /// \throws ArgumentError  on all ranks: the matrix is not square, an entry is negative, infinite or no number, two
  ///                        entries that should be one differ
  virtual void expect_symmetric(mpi::Context& context) const = 0;

  /// y[i] = Σ_j A(i, j) x[j] for this rank's rows. Local, and one pass over the matrix.
  virtual void multiply(std::span<const double> x, std::span<double> y) = 0;

  /// See `feasibility`. The marginals are the same each time. Collective over `context`.
  [[nodiscard]] virtual Feasibility feasibility_of(mpi::Context& context, const RowHeights& problem) = 0;

  /// What the reason of a run that came to the limit of its iterations has to tell beside; empty for nothing.
  [[nodiscard]] virtual std::string at_limit() const { return {}; }

  [[nodiscard]] AxisNames names() const noexcept { return names_; }

 private:
  AxisNames names_;
};

/// A matrix that is stored as it is, in row-major order: double, or float computed with as double. Blocks of zeros,
/// such as rows and columns of contact maps that are masked, are read once: see `FilledParts`.
template <class T>
class DenseSymmetricOperand final : public SymmetricOperand {
 public:
  /// \pre  the rows outlive this
  explicit DenseSymmetricOperand(matrix_view<const T> rows, AxisNames names = {})
      : SymmetricOperand(names), rows_(rows), filled_(rows) {}

  [[nodiscard]] Index rows() const override { return rows_.rows(); }
  [[nodiscard]] Index columns() const override { return rows_.columns(); }
  void expect_symmetric(mpi::Context& context) const override;
  void multiply(std::span<const double> x, std::span<double> y) override;
  [[nodiscard]] Feasibility feasibility_of(mpi::Context& context, const RowHeights& problem) override;

 private:
  matrix_view<const T> rows_;
  FilledParts filled_;
};

/// B(i, j) ← x[i] A(i, j) x[j], in the place of this rank's rows, from `first_row` on; as symmetric as A is, to the
/// last bit. Local.
template <class T>
void balance_in_place(matrix_view<T> rows, Index first_row, std::span<const double> x);

/// One entry of it.
[[nodiscard]] inline double balanced_entry(double entry, double x, double y) noexcept {
  return entry * std::max(x, y) * std::min(x, y);
}

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
  [[nodiscard]] Feasibility feasibility_of(mpi::Context& context, const RowHeights& problem) override;

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
