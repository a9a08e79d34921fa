#pragma once

#include <algorithm>
#include <optional>
#include <span>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/feasibility.hpp"
#include "plait/sinkhorn/filled_parts.hpp"
#include "plait/sinkhorn/marginals.hpp"

namespace plait::sinkhorn {

/// A distributed symmetric matrix of numbers >= 0 as `balance` sees it, however it is stored. Every rank has some rows,
/// rank 0 the first ones; any number of them, also none.
class SymmetricOperand {
 public:
  SymmetricOperand() = default;
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
  [[nodiscard]] virtual Feasibility feasibility_of(mpi::Context& context, const CheckedMarginals& marginals,
                                                   std::span<const double> heights) = 0;

  /// Of the matrix that was given, where this one is its transpose.
  [[nodiscard]] virtual AxisNames names() const { return {}; }
};

/// A matrix that is stored as it is, in row-major order: double, or float computed with as double. Blocks of zeros,
/// such as rows and columns of contact maps that are masked, are read once: see `FilledParts`.
template <class T>
class DenseSymmetricOperand final : public SymmetricOperand {
 public:
  /// \pre  the rows outlive this
  explicit DenseSymmetricOperand(matrix_view<const T> rows, AxisNames names = {})
      : rows_(rows), filled_(rows), names_(names) {}

  [[nodiscard]] Index rows() const override { return rows_.rows(); }
  [[nodiscard]] Index columns() const override { return rows_.columns(); }
  void expect_symmetric(mpi::Context& context) const override;
  void multiply(std::span<const double> x, std::span<double> y) override;
  [[nodiscard]] Feasibility feasibility_of(mpi::Context& context, const CheckedMarginals& marginals,
                                           std::span<const double> heights) override;
  [[nodiscard]] AxisNames names() const override { return names_; }

 private:
  matrix_view<const T> rows_;
  FilledParts filled_;
  AxisNames names_;
};

/// Entries that should be one may differ by this, relative to the larger one: they may have been computed.
inline constexpr double symmetry_tolerance = 1e-6;

/// An entry of a matrix, and its mirror image.
struct Mismatch {
  Index row = 0;
  Index column = 0;
  double entry = 0;
  double mirrored = 0;

  /// Whether they should be one and are not.
  [[nodiscard]] bool is_one() const noexcept;
};

/// Keeps the one that comes first in the matrix.
void keep_first(std::optional<Mismatch>& found, const Mismatch& next);

/// \throws ArgumentError  on all ranks: one of them has found one. Collective over `context`
void expect_none(mpi::Context& context, const std::optional<Mismatch>& found, const AxisNames& names);

/// Compares a matrix with its transpose, of which pieces go round between the ranks. Collective over `context`.
///
/// \pre  the matrix is square and row-major
/// \throws ArgumentError  on all ranks: two entries that should be one differ, or one of them alone is infinite
template <class T>
void expect_symmetric(mpi::Context& context, matrix_view<const T> rows, const AxisNames& names = {});

/// B(i, j) ← x[i] A(i, j) x[j], in the place of this rank's rows, from `first_row` on; as symmetric as A is, to the
/// last bit. Local.
template <class T>
void balance_in_place(matrix_view<T> rows, Index first_row, std::span<const double> x);

/// One entry of it.
[[nodiscard]] inline double balanced_entry(double entry, double x, double y) noexcept {
  return entry * std::max(x, y) * std::min(x, y);
}

}  // namespace plait::sinkhorn
