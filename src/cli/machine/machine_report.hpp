#pragma once

#include <string>

#include "plait/model/machine.hpp"
#include "plait/mpi/context.hpp"

namespace plait::cli {

/// What `plait machine` found, as a short table for people.
[[nodiscard]] std::string machine_summary(const model::Machine& machine, const std::string& output, double seconds);

/// The same as a line of JSON, with all of the file as `machine`.
[[nodiscard]] std::string machine_json(const mpi::Context& context, const model::Machine& machine,
                                       const std::string& output, double seconds);

}  // namespace plait::cli
