#pragma once

#include <mpi.h>

#include <span>

#include "plait/base/index.hpp"

namespace plait::bench {

/// What of the operands one rank gets from a reduction: of the first `ranks` ranks, the elements from `first` on.
struct Reduced {
  int ranks;
  Index first;
  Index n;
};

/// A reduction of MPI among several ranks, and how its results lie.
struct MpiReduction {
  using Call = int (*)(const void* in, void* out, int n, MPI_Datatype type, MPI_Comm comm);

  const char* name;  // as in the names of cases
  Call call;         // as programs call it: plait's where it is preloaded
  Call library;      // the MPI library's own
  Reduced (*result)(int rank, int ranks, Index n);
  bool blocks;  // or is begun, and then waited for, with computing in between or not
};

/// All of them: sums, at rank 0 where there is a root. `n` elements of each rank are summed up; a reduce-scatter wants
/// a multiple of the number of ranks.
[[nodiscard]] std::span<const MpiReduction> mpi_reductions() noexcept;

}  // namespace plait::bench
