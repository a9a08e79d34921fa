#pragma once

#include <complex>
#include <cstddef>
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

/// The same, held, uninitialised.
template <class T>
struct WorkArrays {
  template <class Element>
  struct Array {
    explicit Array(Index count)
        : length(static_cast<int>(count)),
          memory(std::make_unique_for_overwrite<Element[]>(static_cast<std::size_t>(count))) {}
    [[nodiscard]] Element* data() const noexcept { return memory.get(); }
    int length;

   private:
    std::unique_ptr<Element[]> memory;
  };
  explicit WorkArrays(const Workspace& needed)
      : elements(needed.elements), reals(needed.reals), integers(needed.integers) {}

  Array<T> elements;
  Array<decltype(std::real(T{}))> reals;
  Array<int> integers;
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

/// For a layout of one rank, which may use so many threads.
/// \throws Error  there is no LAPACK
template <class T>
[[nodiscard]] std::unique_ptr<Eigensolver<T>> lapack_eigensolver(mpi::Context& context, const layout::Layout& layout,
                                                                 int threads);

template <class T>
[[nodiscard]] Workspace lapack_workspace(Index n);

/// \throws Error  there is no LAPACK
void expect_lapack();

/// For a block-cyclic layout with square blocks, on a process grid of the context's first ranks, numbered by rows.
/// \throws Error  on all ranks: there is no ScaLAPACK
template <class T>
[[nodiscard]] std::unique_ptr<Eigensolver<T>> scalapack_eigensolver(mpi::Context& context,
                                                                    const layout::Layout& layout);

template <class T>
[[nodiscard]] Workspace scalapack_workspace(const layout::Layout& layout, int rank);

/// \throws Error  there is no ScaLAPACK
void expect_scalapack();

}  // namespace plait::purify
