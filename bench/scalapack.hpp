#pragma once

#include <mpi.h>

#include <optional>

#include "plait/layout/layout.hpp"
#include "plait/redistribute/op.hpp"

#include "bench/harness/measure.hpp"

namespace plait::bench {

/// ScaLAPACK's way to A ← op(B) for identity and transpose, on the same memory as plait's, or nothing where the
/// benchmark was built without it. Collective over `comm`.
///
/// p?tran takes both matrices on one process grid. Between different grids it transposes into a matrix of its own on
/// the grid of the source, in blocks of the target, which p?gemr2d then moves.
///
/// \pre  both layouts are block-cyclic, column-major, on process grids that begin at rank 0 and take all ranks
/// \pre  source and target are this rank's local arrays, without gaps between columns
[[nodiscard]] std::optional<Contender> scalapack(MPI_Comm comm, const layout::Layout& from, const layout::Layout& to,
                                                 redistribute::Op op, const double* source, double* target);

}  // namespace plait::bench
