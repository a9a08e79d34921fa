#pragma once

#include <mpi.h>

#include <optional>

#include "plait/layout/distributed_matrix.hpp"

#include "bench/harness/measure.hpp"
#include "bench/redistribute/moved_matrix.hpp"

namespace plait::bench {

/// ScaLAPACK's way to A ← op(B) + beta·A for identity and transpose, on the memory of `matrix`, which outlives it.
/// Nothing where the benchmark was built without it, or where it has no such routine: it wants block-cyclic layouts on
/// process grids that take all ranks, stored by columns, and adds to A only in p?tran. Collective over `comm`.
///
/// p?tran takes both matrices on one process grid. Between different grids it transposes into a matrix of its own on
/// the grid of the source, in blocks of the target, which p?gemr2d then moves.
[[nodiscard]] std::optional<Contender> scalapack(MPI_Comm comm, const MovedMatrix& matrix);

/// C ← A·B by pdgemm, on matrices that outlive it. Nothing where the benchmark was built without ScaLAPACK. Collective
/// over `comm`.
///
/// \pre  block-cyclic layouts of one process grid that takes all ranks, stored by columns
[[nodiscard]] std::optional<Contender> scalapack_product(MPI_Comm comm, const layout::DistributedMatrix<double>& a,
                                                         const layout::DistributedMatrix<double>& b,
                                                         layout::DistributedMatrix<double>& c);

}  // namespace plait::bench
