#pragma once

#include <string>
#include <vector>

#include "cli/scaling/epsilon_options.hpp"
#include "cli/scaling/input_files.hpp"
#include "cli/scaling/scaled_options.hpp"
#include "cli/transport/point_options.hpp"

namespace CLI {
class App;
}

namespace plait::cli {

/// The command line of `plait barycentre`: of_rows is where the masses go.
struct BarycentreOptions : ScaledOptions, EpsilonOptions, PointOptions {
  std::string histograms;
  std::string weights;  // empty: all alike
};

[[nodiscard]] std::vector<InputFile> inputs_of(const BarycentreOptions& options);

/// Adds the command to the program's; parsing fills `options`.
///
/// \throws UsageError  from parsing: a value is malformed, or options contradict each other
void add_barycentre(CLI::App& program, BarycentreOptions& options);

}  // namespace plait::cli
