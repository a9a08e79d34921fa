#include "cli/exec/exec.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/simd/isa.hpp"

#include "cli/exec/needed_libraries.hpp"
#include "cli/exec/reduction_libraries.hpp"
#include "cli/options/option_value.hpp"
#include "cli/output/print.hpp"
#include "cli/output/shell_text.hpp"

namespace plait::cli {

namespace {

namespace fs = std::filesystem;

constexpr int status_not_executable = 126;
constexpr int status_not_found = 127;

constexpr const char* exec_footer =
    R"(COMMAND is a launcher, a script, or a program that a launcher starts. The exit status is its own; 127 if it was not
found.

Example:
  plait exec --log -- mpirun -n 4 ./program)";

// The program that a shell would run.
std::optional<fs::path> executable_of(const std::string& command) {
  if (command.find('/') != std::string::npos) return command;
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path candidate = fs::path(folder.empty() ? "." : folder) / command;
    std::error_code none;
    if (fs::is_regular_file(candidate, none) && access(candidate.c_str(), X_OK) == 0) return std::optional(candidate);
  }
  return std::nullopt;
}

// By the names under which launchers are installed, once links are followed; empty for all other programs.
std::string_view family_of_launcher(const fs::path& executable) {
  std::error_code none;
  const std::string name = fs::canonical(executable, none).filename();
  if (name == "orterun" || name == "prterun" || name == "mpirun.openmpi" || name == "mpiexec.openmpi") {
    return "Open MPI";
  }
  if (name == "mpiexec.hydra" || name == "mpirun.mpich" || name == "mpiexec.mpich") return "MPICH";
  return "";
}

// The programs that a command runs, itself or as a launcher, which may take several with a colon between them: what a
// script runs is not known.
std::vector<fs::path> programs_of(const std::vector<std::string>& command) {
  const auto executable = executable_of(command[0]);
  if (!executable) return {};
  if (family_of_launcher(*executable).empty()) return {*executable};
  std::vector<fs::path> programs;
  bool is_wanted = true;
  for (std::size_t i = 1; i < command.size(); ++i) {
    if (command[i] == ":") is_wanted = true;
    const auto program = !is_wanted || command[i].starts_with('-') ? std::nullopt : executable_of(command[i]);
    std::error_code none;
    if (!program || !fs::is_regular_file(*program, none) || access(program->c_str(), X_OK) != 0) continue;
    programs.push_back(*program);
    is_wanted = false;
  }
  return programs;
}

void refuse_program_of_other_mpi(const fs::path& program) {
  for (const std::string& library : needed_libraries(program)) {
    const std::string_view family = family_of_library(library);
    if (family.empty() || family == PLAIT_MPI_FAMILY) continue;
    throw ArgumentError(
        fmt::format("{} is a program of {} (it needs {}), but this plait was built with {}: use plait "
                    "built for {}",
                    program.native(), family, library, PLAIT_MPI_FAMILY, family));
  }
}

void refuse_other_mpi(const std::vector<std::string>& command) {
  const auto executable = executable_of(command[0]);
  const std::string_view launched = executable ? family_of_launcher(*executable) : "";
  if (!launched.empty() && launched != PLAIT_MPI_FAMILY) {
    throw ArgumentError(
        fmt::format("{} is the launcher of {}, but this plait was built with {}: use the one of that MPI, or "
                    "plait built for {}",
                    command[0], launched, PLAIT_MPI_FAMILY, launched));
  }
  for (const fs::path& program : programs_of(command)) refuse_program_of_other_mpi(program);
}

std::vector<Setting> settings_of(const ExecOptions& options) {
  std::vector<Setting> settings = reduction_settings(reduction_libraries(), options.scalapack);
  if (!options.isa.empty()) settings.push_back({"PLAIT_ISA", options.isa});
  if (options.reproducible) settings.push_back({"PLAIT_REPRODUCIBLE", "1"});
  if (options.log) settings.push_back({"PLAIT_LOG", "summary"});
  // What stands in the environment is told as well, so that ranks on other nodes get it.
  for (const char* const name : {"PLAIT_ISA", "PLAIT_REPRODUCIBLE", "PLAIT_LOG"}) {
    const char* const value = std::getenv(name);
    if (value != nullptr && std::ranges::find(settings, name, &Setting::name) == settings.end()) {
      settings.push_back({name, value});
    }
  }
  return settings;
}

// Open MPI's launcher gives ranks on other nodes no variables of its own but those it is told to.
std::vector<std::string> forwarding(std::vector<std::string> command, const std::vector<Setting>& settings) {
  const auto executable = executable_of(command[0]);
  if (!executable || family_of_launcher(*executable) != "Open MPI") return command;
  if (std::getenv("OMPI_MCA_mca_base_env_list") != nullptr) return command;  // which it can't be told beside
  std::vector<std::string> options;
  for (const Setting& setting : settings) {
    const std::string& name = setting.name;
    const auto is_told = [&](const std::string& word) { return word == name || word.starts_with(name + "="); };
    if (name.starts_with("OMPI_") || std::ranges::any_of(command, is_told)) continue;
    options.insert(options.end(), {"-x", name});
  }
  command.insert(command.begin() + 1, options.begin(), options.end());
  return command;
}

// As a shell takes them: the variables and, if there is one, the command.
std::string text_for_shell(const std::vector<Setting>& settings, const std::vector<std::string>& command) {
  std::string text;
  for (const auto& [name, value] : settings) text += fmt::format("export {}={}\n", name, in_shell_quotes(value));
  if (command.empty()) return text;
  return text + shell_text(forwarding(command, settings)) + "\n";
}

// Returns only if that fails.
int become(std::vector<std::string> command) {
  std::vector<char*> words;
  words.reserve(command.size() + 1);
  for (std::string& word : command) words.push_back(word.data());
  words.push_back(nullptr);
  std::signal(SIGPIPE, SIG_DFL);  // which this command ignores, and others need not
  execvp(words[0], words.data());
  const int reason = errno;
  print_error(fmt::format("{}: {}", command[0], std::generic_category().message(reason)));
  return reason == ENOENT ? status_not_found : status_not_executable;
}

}  // namespace

CLI::App* add_exec(CLI::App& program, ExecOptions& options) {
  CLI::App& command = *program.add_subcommand("exec", "Run an unchanged MPI program with plait's reductions");
  command.prefix_command();
  std::vector<std::string> isas;
  for (const simd::Isa isa : simd::supported_isas()) isas.emplace_back(simd::name(isa));
  add_value(
      command, "--isa",
      [&options](const std::string& text) {
        static_cast<void>(simd::best_isa_within(simd::parse_isa(text)));
        options.isa = text;
      },
      "NAME", fmt::format("Use no better instruction set than this: {}; sets PLAIT_ISA", either(isas)));
  command.add_flag("--reproducible", options.reproducible,
                   "Give sums the same bits for any order of the ranks; sets PLAIT_REPRODUCIBLE=1");
  command.add_flag("--scalapack", options.scalapack,
                   "Serve ScaLAPACK's redistributions, sums and products, too (libplait_scalapack.so)");
  command.add_flag("--log", options.log, "Rank 0 prints on stderr what was served; sets PLAIT_LOG=summary");
  command.add_flag("--print", options.print,
                   "Print the variables, and the command if there is one, for a shell: eval \"$(plait exec --print)\"");
  command.footer(exec_footer);
  return &command;
}

std::vector<std::string> exec_command(std::vector<std::string> left, const std::vector<std::string>& after_mark) {
  if (!left.empty() && !after_mark.empty()) left.emplace_back("--");  // it belongs to the command
  left.insert(left.end(), after_mark.begin(), after_mark.end());
  return left;
}

int run_exec(const ExecOptions& options, const Launch& launch) {
  const std::vector<Setting> settings = settings_of(options);
  if (!options.command.empty()) refuse_other_mpi(options.command);
  if (options.print) {
    print_result(text_for_shell(settings, options.command));
    return 0;
  }
  if (!launch.is_own && launch.size > 1 && launch.rank == 0) {
    print_warning("another MPI's launcher seems to have started this; the reductions are those for " PLAIT_MPI_FAMILY);
  }
  for (const auto& [name, value] : settings) setenv(name.c_str(), value.c_str(), 1);
  return become(forwarding(options.command, settings));
}

}  // namespace plait::cli
