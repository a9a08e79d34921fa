#include "cli/purify/purify.hpp"

#include "cli/host/adapted.hpp"
#include "cli/purify/purify_options.hpp"

namespace plait::cli {

using PurifyAdapted = Adapted<PurifyOptions, add_purify, run_purify>;
PLAIT_JOB(purify, PurifyAdapted)

}  // namespace plait::cli
