#pragma once

#include "cli/host/command_line.hpp"

namespace plait::cli {

/// All subcommands, in the order in which `plait --help` lists them.
[[nodiscard]] std::span<const JobRow> jobs();

}  // namespace plait::cli
