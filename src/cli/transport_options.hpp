#pragma once

#include <string_view>

#include "plait/sinkhorn/transport.hpp"

#include "cli/scaled_options.hpp"

namespace CLI {
class App;
}

namespace plait::cli {

[[nodiscard]] std::string_view name(sinkhorn::Domain domain);

/// The command line of `plait transport`.
struct TransportJobOptions : ScaledOptions {
  double epsilon = 0;
  double first_epsilon = 0;  // 0: chosen
  sinkhorn::Domain domain = sinkhorn::Domain::automatic;
  sinkhorn::Rho rho = {};  // of rows and columns of the file
};

/// Adds the command to the program's; parsing fills `options`.
///
/// \throws UsageError  from parsing: a value is malformed, or options contradict each other
void add_transport(CLI::App& program, TransportJobOptions& options);

}  // namespace plait::cli
