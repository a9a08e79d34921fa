#pragma once

#include <span>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/feasibility.hpp"
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

  /// See `feasibility`. Collective over `context`.
  [[nodiscard]] virtual Feasibility feasibility_of(mpi::Context& context, const CheckedMarginals& marginals,
                                                   std::span<const double> heights) const = 0;
};

/// A matrix that is stored as it is, in row-major order: double, or float computed with as double.
template <class T>
class DenseSymmetricOperand final : public SymmetricOperand {
 public:
  /// \pre  the rows outlive this
  explicit DenseSymmetricOperand(matrix_view<const T> rows) : rows_(rows) {}

  [[nodiscard]] Index rows() const override { return rows_.rows(); }
  [[nodiscard]] Index columns() const override { return rows_.columns(); }
  void expect_symmetric(mpi::Context& context) const override;
  void multiply(std::span<const double> x, std::span<double> y) override;
  [[nodiscard]] Feasibility feasibility_of(mpi::Context& context, const CheckedMarginals& marginals,
                                           std::span<const double> heights) const override;

 private:
  matrix_view<const T> rows_;
};

/// Entries that should be one may differ by this, relative to the larger one: they may have been computed.
inline constexpr double symmetry_tolerance = 1e-6;

}  // namespace plait::sinkhorn
