#include "cli/sinkhorn/sinkhorn.hpp"

#include "cli/host/adapted.hpp"
#include "cli/sinkhorn/sinkhorn_options.hpp"

namespace plait::cli {

using SinkhornAdapted = Adapted<SinkhornOptions, add_sinkhorn, run_sinkhorn>;
PLAIT_JOB(sinkhorn, SinkhornAdapted)

}  // namespace plait::cli
