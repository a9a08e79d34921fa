#pragma once

#include <string>
#include <variant>

#include "cli/balance_options.hpp"
#include "cli/barycentre_options.hpp"
#include "cli/divergence_options.hpp"
#include "cli/exec.hpp"
#include "cli/generate_options.hpp"
#include "cli/info.hpp"
#include "cli/machine.hpp"
#include "cli/multiply_options.hpp"
#include "cli/plan_options.hpp"
#include "cli/purify_options.hpp"
#include "cli/redistribute_options.hpp"
#include "cli/sinkhorn_options.hpp"
#include "cli/trace_options.hpp"
#include "cli/transport_options.hpp"

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
