#pragma once

#include <optional>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/marginals/axis_names.hpp"

namespace plait::sinkhorn {

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

}  // namespace plait::sinkhorn
