#pragma once

#include <functional>

#include "plait/mpi/context.hpp"

namespace plait::bench {

/// Simulated seconds from when all ranks begin `run`, at one time, to when the last one is done. Meanwhile messages of
/// 4 KB and more take their time, but arrive as they were not sent, if `copies` is false: then nobody's memory is
/// touched, and thousands of ranks fit. Collective.
[[nodiscard]] double simulated_seconds(const mpi::Context& context, bool copies, const std::function<void()>& run);

/// Takes the time of so many floating-point operations at the rate of the platform's hosts.
void compute(double operations);

}  // namespace plait::bench
