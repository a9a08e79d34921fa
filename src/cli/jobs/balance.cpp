#include "cli/sinkhorn/balance.hpp"

#include "cli/host/adapted.hpp"
#include "cli/sinkhorn/balance_options.hpp"

namespace plait::cli {

using BalanceAdapted = Adapted<BalanceOptions, add_balance, run_balance>;
PLAIT_JOB(balance, BalanceAdapted)

}  // namespace plait::cli
