#pragma once

#include "plait/mpi/communicator.hpp"

namespace plait::shim::scalapack {

/// From which size on p?gemm is served, where the environment does not say so: below, ScaLAPACK is about as fast, as it
/// plans nothing and asks nobody.
inline constexpr int usual_least_order = 128;

/// That of PLAIT_GEMM_FROM on rank 0, told to all others, so that all decide alike. Something else than a number from 0
/// on is told to be wrong by the rank 0 of all processes, and does not count. Collective.
[[nodiscard]] int least_order(const mpi::Communicator& comm);

/// Whether m x n sums of k terms are as much work as two square matrices of this order.
[[nodiscard]] constexpr bool is_as_large(int m, int n, int k, int order) noexcept {
  const double cubed = static_cast<double>(order) * order * order;
  return static_cast<double>(m) * n * k >= cubed;
}

}  // namespace plait::shim::scalapack
