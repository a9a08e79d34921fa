#pragma once

#include <string>
#include <variant>

#include "cli/exec/exec.hpp"
#include "cli/exec/info.hpp"
#include "cli/generate/generate_options.hpp"
#include "cli/machine/machine.hpp"
#include "cli/multiply/multiply_options.hpp"
#include "cli/purify/purify_options.hpp"
#include "cli/redistribute/plan_options.hpp"
#include "cli/redistribute/redistribute_options.hpp"
#include "cli/sinkhorn/balance_options.hpp"
#include "cli/sinkhorn/sinkhorn_options.hpp"
#include "cli/trace/trace_options.hpp"
#include "cli/transport/barycentre_options.hpp"
#include "cli/transport/divergence_options.hpp"
#include "cli/transport/transport_options.hpp"

namespace plait::cli {

/// What --help and --version print.
struct Text {
  std::string text;
};

using Command = std::variant<Text, RedistributeOptions, MultiplyOptions, PurifyOptions, SinkhornOptions,
                             TransportJobOptions, BalanceOptions, BarycentreOptions, DivergenceOptions, PlanOptions,
                             GenerateOptions, InfoOptions, ExecOptions, MachineOptions, TraceOptions>;

/// \throws UsageError  in a line or a few: what is wrong, what was expected, and where help is
[[nodiscard]] Command parse_command_line(int argc, const char* const* argv);

}  // namespace plait::cli
