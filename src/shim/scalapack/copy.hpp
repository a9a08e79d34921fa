#pragma once

#include <optional>

#include "plait/base/index.hpp"
#include "plait/redistribute/trapezoid.hpp"

#include "shim/scalapack/matrix.hpp"

namespace plait::shim::scalapack {

/// The arguments of p?gemr2d and p?trmr2d:  B(ib:, jb:) ← A(ia:, ja:), m x n elements, or a trapezoid of them.
struct CopyCall {
  int m;
  int n;
  Given<const void> a;
  Given<void> b;
  int union_context;  ///< of a grid of all processes that are in that of A or that of B, or in neither
  std::optional<redistribute::Trapezoid> part = std::nullopt;
};

/// Copies between any two grids. Collective over the grid of the union context; a process that is not in the grid of A
/// (B) has -1 for its context in the descriptor, and the rest of it is not looked at.
///
/// Where all processes are in both grids, all of them know all arguments, and once the plan is there only data is
/// communicated. Otherwise those in a grid tell the others, in one all-gather a call.
///
/// \param element_bytes  4, 8 or 16
/// \throws PassOn  on all processes alike
void copy(const CopyCall& call, Index element_bytes);

/// The elements that p?trmr2d copies, told by the first letters of its arguments as the real one reads them: with
/// diag 'N' the diagonal is copied. It ends in the last element of the last row or column.
[[nodiscard]] redistribute::Trapezoid trmr2d_part(char uplo, char diag, int m, int n);

}  // namespace plait::shim::scalapack
