#pragma once

#include <string>

namespace CLI {
class App;
}

namespace plait::cli {

/// The command line of `plait trace`.
struct TraceOptions {
  std::string command;  // the whole line, as a shell takes it
  std::string input;
  std::string report;          // empty: none
  double bits_per_second = 0;  // 0: as the trace tells
  bool json = false;
  bool quiet = false;
};

/// Adds the command to the program's; parsing fills `options`.
///
/// \throws UsageError  from parsing: a value is malformed
void add_trace(CLI::App& program, TraceOptions& options);

}  // namespace plait::cli
