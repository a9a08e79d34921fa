#pragma once

#include <optional>

#include "plait/mpi/predefined.hpp"

namespace plait::shim::reduce {

/// Whether PLAIT_REPRODUCIBLE=1 in the environment asks this process for sums that are the same to the last bit
/// whatever the order of the ranks; 0, empty or none is no. Of any other value rank 0 says once on stderr that it is
/// none.
/// \pre  MPI runs
[[nodiscard]] bool is_reproducible_wanted() noexcept;

/// Whether the order in which operands are combined may show in the last bits: that of rounded sums and products. What
/// a program does by operations and types of its own is not known, so that may, too.
[[nodiscard]] bool depends_on_order(const std::optional<mpi::PredefinedReduction>& reduction) noexcept;

}  // namespace plait::shim::reduce
