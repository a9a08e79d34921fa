#pragma once

#include "cli/scaling/scaled_options.hpp"

namespace CLI {
class App;
}

namespace plait::cli {

/// The command line of `plait balance`: of_rows is where the factors go, output the balanced matrix.
struct BalanceOptions : ScaledOptions {
  double sum = 1;
};

/// Adds the command to the program's; parsing fills `options`.
///
/// \throws UsageError  from parsing: a value is malformed, or options contradict each other
void add_balance(CLI::App& program, BalanceOptions& options);

}  // namespace plait::cli
