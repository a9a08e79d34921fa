#pragma once

#include <string>

#include "plait/mpi/context.hpp"

#include "cli/options/report_options.hpp"

namespace CLI {
class App;
}

namespace plait::cli {

/// The command line of `plait machine`.
struct MachineOptions {
  std::string output;
  bool quick = false;
  ReportOptions report;
};

/// Adds the command to the program's; parsing fills `options`.
///
/// \throws UsageError  from parsing: a value is malformed
void add_machine(CLI::App& program, MachineOptions& options);

/// `plait machine`: measures what the machine can do and writes it to a file. Collective over `context`; rank 0 writes
/// and prints.
///
/// \throws FileError  on every rank: the file can't be written
void run_machine(mpi::Context& context, const MachineOptions& options);

}  // namespace plait::cli
