#include "cli/transport/transport.hpp"

#include "cli/host/adapted.hpp"
#include "cli/transport/transport_options.hpp"

namespace plait::cli {

using TransportJobAdapted = Adapted<TransportJobOptions, add_transport, run_transport>;
PLAIT_JOB(transport, TransportJobAdapted)

}  // namespace plait::cli
