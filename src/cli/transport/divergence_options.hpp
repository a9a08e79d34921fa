#pragma once

#include <string>
#include <vector>

#include "cli/scaling/input_files.hpp"
#include "cli/transport/transport_options.hpp"

namespace CLI {
class App;
}

namespace plait::cli {

/// The command line of `plait divergence`: of_rows and of_columns are where the gradients go, and rho is one for both.
struct DivergenceOptions : TransportJobOptions {
  std::string among_rows;  // costs; both empty: those of IN, or of points
  std::string among_columns;
};

[[nodiscard]] std::vector<InputFile> inputs_of(const DivergenceOptions& options);

/// Adds the command to the program's; parsing fills `options`.
///
/// \throws UsageError  from parsing: a value is malformed, or options contradict each other
void add_divergence(CLI::App& program, DivergenceOptions& options);

}  // namespace plait::cli
