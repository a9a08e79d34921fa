#pragma once

#include <array>
#include <complex>
#include <cstddef>

#include "plait/base/index.hpp"
#include "plait/layout/layout.hpp"
#include "plait/mpi/context.hpp"

namespace plait::purify {

/// The routines of ScaLAPACK that eigenstates take, for elements of type T: float, double, std::complex of both.
///
/// They are looked for when they are first needed, in the program itself and what it is linked with, then in the
/// library of the MPI in use. So programs that never ask for eigenstates need no ScaLAPACK.
template <class T>
struct ScalapackRoutines {
  using Real = decltype(std::real(T{}));
  using Descriptor = const int*;

  /// \throws Error  there is no ScaLAPACK, or it lacks one of them
  ScalapackRoutines();

  /// Cholesky's factor of a matrix in its lower triangle.
  void (*potrf)(const char* uplo, const int* n, T* a, const int* ia, const int* ja, Descriptor, int* info, std::size_t);
  void (*trsm)(const char* side, const char* uplo, const char* op, const char* diag, const int* m, const int* n,
               const T* alpha, const T* a, const int* ia, const int* ja, Descriptor, T* b, const int* ib, const int* jb,
               Descriptor);
  /// C ← alpha·A·Aᴴ + beta·C, one triangle of it.
  void (*rank_k)(const char* uplo, const char* op, const int* n, const int* k, const Real* alpha, const T* a,
                 const int* ia, const int* ja, Descriptor, const Real* beta, T* c, const int* ic, const int* jc,
                 Descriptor);
  /// p?syevd or p?heevd, whose arguments differ: see `eigenstates`.
  void* evd;
};

/// A process grid as BLACS has it: the first rows × columns ranks of a context, numbered by rows.
class BlacsGrid {
 public:
  /// Collective over the context.
  /// \throws Error  on all ranks: there is no ScaLAPACK
  BlacsGrid(mpi::Context& context, int rows, int columns);
  BlacsGrid(const BlacsGrid&) = delete;
  BlacsGrid& operator=(const BlacsGrid&) = delete;
  ~BlacsGrid();

  /// Whether this rank is one of it.
  [[nodiscard]] bool has_this_rank() const noexcept { return handle_ >= 0; }

  /// ScaLAPACK's description of a matrix in blocks × blocks on the grid, of whose tile here this is the stride.
  [[nodiscard]] std::array<int, 9> descriptor(layout::Shape shape, Index block, Index leading_dimension) const;

 private:
  int system_ = -1;
  int handle_ = -1;
};

}  // namespace plait::purify
