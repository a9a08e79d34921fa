#pragma once

#include <string>
#include <vector>

#include "cli/exec/launch.hpp"

namespace CLI {
class App;
}

namespace plait::cli {

/// The command line of `plait exec`.
struct ExecOptions {
  std::string isa;  // none: as it is
  bool reproducible = false;
  bool log = false;
  bool scalapack = false;
  bool print = false;
  std::vector<std::string> command;
};

/// Adds the command to the program's; parsing fills `options`, but for the words of the command that is to be run.
CLI::App* add_exec(CLI::App& program, ExecOptions& options);

/// The words of the command: those that parsing left and, after a "--" at which the line was cut, the rest.
[[nodiscard]] std::vector<std::string> exec_command(std::vector<std::string> left,
                                                    const std::vector<std::string>& after_mark);

/// `plait exec`: becomes the command, with the reductions of its MPI switched on, or prints the variables that do it
/// and the command.
/// Needs no MPI. A process that seems to be started by another MPI's launcher warns, for the command may know better.
///
/// \return  an exit status, if there is no command to become: 127 if it was not found, 126 if it can't be executed
/// \throws FileError, ArgumentError  as `reduction_settings`; the command is the launcher of another MPI, or the
///                                   program that it runs, as far as that shows, is one of another MPI
[[nodiscard]] int run_exec(const ExecOptions& options, const Launch& launch);

}  // namespace plait::cli
