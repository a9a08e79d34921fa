#pragma once

#include <string>
#include <vector>

#include "plait/mpi/context.hpp"

#include "cli/options/named_file.hpp"

namespace CLI {
class App;
}

namespace plait::cli {

/// Adds --machine, which every job takes.
void add_machine_option(CLI::App& command, std::string& path);

/// Lets the context decide by the machine of that file or, if there is no path, of the file that PLAIT_MACHINE names on
/// rank 0, if it does. Collective over `context`.
///
/// \throws FileError  on every rank: the file can't be read, or is no description of a machine
void use_machine(mpi::Context& context, const std::string& path);

/// The file that `use_machine` read, if any, on the rank that calls: one that a job must not replace. Local.
[[nodiscard]] std::vector<NamedFile> machine_file(const std::string& path);

/// PLAIT_LOG=choices: rank 0 tells on stderr how operations are carried out, once for each way. Local.
void tell_choices_if_wanted(mpi::Context& context);

}  // namespace plait::cli
