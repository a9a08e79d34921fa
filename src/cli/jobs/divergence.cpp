#include "cli/transport/divergence.hpp"

#include "cli/host/adapted.hpp"
#include "cli/transport/divergence_options.hpp"

namespace plait::cli {

using DivergenceAdapted = Adapted<DivergenceOptions, add_divergence, run_divergence>;
PLAIT_JOB(divergence, DivergenceAdapted)

}  // namespace plait::cli
