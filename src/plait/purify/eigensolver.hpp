#pragma once

#include <complex>
#include <memory>
#include <span>

#include "plait/base/index.hpp"
#include "plait/purify/products.hpp"

namespace plait::purify {

/// What a solver takes beside the matrices, in elements: of T, of real numbers (for complex T alone), and integers.
struct Workspace {
  Index elements = 0;
  Index reals = 0;
  Index integers = 0;
};

/// Finds the eigenstates of matrices that lie in one layout, of which a rank has one tile or none. T is float, double,
/// or std::complex of one. LAPACK does it where one rank has all, ScaLAPACK where several have.
///
/// Their routines are looked for when they are first needed: in the program itself and what it is linked with, then in
/// libraries of the system. So programs that never ask for eigenstates need neither.
template <class T>
class Eigensolver {
 public:
  using Real = decltype(std::real(T{}));

  virtual ~Eigensolver() = default;

  /// All eigenvalues, increasing, and as columns the eigenvectors z, zᴴz = I; with s those of  h z = e s z,  zᴴsz = I.
  /// Spoils h and s, whose lower triangles are read. Only ranks that have a tile get values. Collective.
  ///
  /// \throws ArgumentError  on all ranks: s is not positive definite
  /// \throws Error          on all ranks: the library fails
  /// \throws OutOfMemory    on all ranks
  virtual void solve(Matrix<T>& h, Matrix<T>* s, Matrix<T>& z, std::span<Real> values) = 0;

  /// c ← c + alpha·A·Aᴴ, its lower triangle, where A is the columns [first, first + terms) of a. Collective.
  virtual void add_rank_k(Real alpha, const Matrix<T>& a, Index first, Index terms, Matrix<T>& c) = 0;
};

/// For a layout of one rank, which may use so many threads; or a block-cyclic one with square blocks, on a process grid
/// of the context's first ranks, numbered by rows. Collective over the context.
/// \throws Error  on all ranks: the library is not there
template <class T>
[[nodiscard]] std::unique_ptr<Eigensolver<T>> make_eigensolver(mpi::Context& context, const layout::Layout& layout,
                                                               int threads);

/// Of a rank, for such a layout.
template <class T>
[[nodiscard]] Workspace eigensolver_workspace(const layout::Layout& layout, int rank);

/// \throws Error  the library that finds eigenstates of matrices in this layout is not there
void expect_eigensolver(const layout::Layout& layout);

}  // namespace plait::purify
