#include "cli/transport/barycentre.hpp"

#include "cli/host/adapted.hpp"
#include "cli/transport/barycentre_options.hpp"

namespace plait::cli {

using BarycentreAdapted = Adapted<BarycentreOptions, add_barycentre, run_barycentre>;
PLAIT_JOB(barycentre, BarycentreAdapted)

}  // namespace plait::cli
