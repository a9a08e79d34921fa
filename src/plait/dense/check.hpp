#pragma once

#include <complex>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "plait/base/complex.hpp"
#include "plait/base/dtype.hpp"
#include "plait/base/index.hpp"
#include "plait/dense/arrangement/arrangement.hpp"
#include "plait/layout/distributed_matrix.hpp"
#include "plait/mpi/context.hpp"
#include "plait/redistribute/op.hpp"

namespace plait::dense {

using redistribute::Op;

/// What C·x and alpha·op(A)·(op(B)·x) + beta·C·x differ by.
struct Residual {
  enum class Verdict : unsigned char { passed, failed, undecided };

  Verdict verdict = Verdict::undecided;  ///< undecided, if NaN or infinite elements take part
  double relative = 0;   ///< Euclidean norm, of a part of |alpha| |A| |B| + |beta| |C| (Frobenius norms)
  double tolerance = 0;  ///< what rounding explains of it: 16 standard deviations
};

/// Checks that C became alpha·op(A)·op(B) + beta·C, at the cost of reading each matrix once, wherever its elements lie,
/// for a vector x of random signs. An element that is wrong by more than the tolerance, absolutely, is found with a
/// probability of at least a half, and a wrong block with much more.
///
/// All is collective over the context.
/// \throws OutOfMemory  on all ranks: one has too little for `memory_bytes`
///
/// Source: Freivalds, "Probabilistic machines can use less running time", 1977.
template <Field T>
class ProductCheck {
 public:
  ProductCheck(mpi::Context& context, Op op_a, Op op_b, T alpha, T beta)
      : context_(context), op_a_(op_a), op_b_(op_b), alpha_(alpha), beta_(beta) {}

  /// What each rank takes for vectors, as long as rows, columns and terms: at most so many bytes. Local.
  [[nodiscard]] static Index memory_bytes(const ProductShape& shape);

  /// Reads the factors; C, before it is written to. What is multiplied by 0 is not read.
  void read_factors(const layout::DistributedMatrix<T>& a, const layout::DistributedMatrix<T>& b);
  void read_before(const layout::DistributedMatrix<T>& c);
  [[nodiscard]] Residual residual(const layout::DistributedMatrix<T>& c);

 private:
  using Wide = std::conditional_t<is_complex<T>, std::complex<double>, double>;
  using Vector = std::vector<Wide>;

  /// op(M)·x on every rank, and the Frobenius norm of M.
  struct Applied {
    Vector product;
    double norm = 0;
  };
  [[nodiscard]] Applied applied(Op op, const layout::DistributedMatrix<T>& matrix, const Vector& x) const;
  [[nodiscard]] Vector vector(Index count) const;
  [[nodiscard]] Vector signs(Index count) const;

  mpi::Context& context_;
  Op op_a_, op_b_;
  T alpha_, beta_;
  Vector expected_;  // alpha·op(A)·op(B)·x
  Vector before_;    // beta·C·x
  double size_ = 0;
  Index terms_ = 0;
};

}  // namespace plait::dense
