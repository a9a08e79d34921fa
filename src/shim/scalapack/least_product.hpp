#pragma once

#include <algorithm>

#include "plait/base/index.hpp"
#include "plait/mpi/communicator.hpp"

namespace plait::shim::scalapack {

/// From which size on p?gemm is served, where the environment does not say so: below, ScaLAPACK is about as fast, as it
/// plans nothing and asks nobody.
inline constexpr int usual_least_order = 128;

/// That of PLAIT_GEMM_FROM on rank 0, told to all others, so that all decide alike. Something else than a number from 0
/// on is told to be wrong by the rank 0 of all processes, and does not count. Collective.
[[nodiscard]] int least_order(const mpi::Communicator& comm);

/// The order of the square matrices that m x n sums of k terms have to be as much work as: `order`, and twice that
/// where one of the three is less than half of it. Such tall, flat and deep products have to move more for their work,
/// and begin to be faster later.
[[nodiscard]] constexpr Index asked_order(int m, int n, int k, int order) noexcept {
  return 2 * Index{std::min({m, n, k})} < order ? 2 * Index{order} : Index{order};
}

[[nodiscard]] constexpr bool is_as_large(int m, int n, int k, int order) noexcept {
  const auto asked = static_cast<double>(asked_order(m, n, k, order));
  return static_cast<double>(m) * n * k >= asked * asked * asked;
}

}  // namespace plait::shim::scalapack
