#pragma once

#include <string>
#include <vector>

#include "plait/sinkhorn/transport/transport.hpp"

#include "cli/scaling/epsilon_options.hpp"
#include "cli/scaling/input_files.hpp"
#include "cli/scaling/scaled_options.hpp"
#include "cli/transport/point_options.hpp"

namespace CLI {
class App;
}

namespace plait::cli {

/// The command line of `plait transport`.
struct TransportJobOptions : ScaledOptions, EpsilonOptions, PointOptions {
  std::string map;         // where the barycentric projection goes; may be empty
  sinkhorn::Rho rho = {};  // of rows and columns of the file
};

[[nodiscard]] std::vector<InputFile> inputs_of(const TransportJobOptions& options);

/// Adds the command to the program's; parsing fills `options`.
///
/// \throws UsageError  from parsing: a value is malformed, or options contradict each other
void add_transport(CLI::App& program, TransportJobOptions& options);

}  // namespace plait::cli
