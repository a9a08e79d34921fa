#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <sstream>
#include <system_error>

#include "plait/dense/blas/blas_kernels.hpp"
#include "plait/simd/isa.hpp"

#include "cli/exec/libraries.hpp"
#include "cli/host/job.hpp"

namespace plait::cli {

namespace {

namespace fs = std::filesystem;

constexpr int status_not_executable = 126;
constexpr int status_not_found = 127;

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

// Open MPI's launcher gives ranks on other nodes no variables of its own but those that it is asked to.
std::vector<std::string> forwarding(std::vector<std::string> command, const std::vector<Setting>& settings) {
  const auto executable = executable_of(command[0]);
  if (!executable || family_of_launcher(*executable) != "Open MPI") return command;
  if (std::getenv("OMPI_MCA_mca_base_env_list") != nullptr) return command;  // which excludes -x
  std::vector<std::string> options;
  for (const Setting& setting : settings) {
    const std::string& name = setting.name;
    const auto is_given = [&](const std::string& word) { return word == name || word.starts_with(name + "="); };
    if (name.starts_with("OMPI_") || std::ranges::any_of(command, is_given)) continue;
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

/// Becomes a program, with the reductions of its MPI switched on, or prints the variables that do it and the command.
/// Needs no MPI. A process that seems to be started by another MPI's launcher warns, for the program may know better.
class Exec : public Command {
 public:
  void options(Options& options) override {
    options.describe(
        "Run an unchanged MPI program with plait's reductions",
        R"(COMMAND is a launcher, a script, or a program that a launcher starts. The exit status is its own; 127 if it was not
found.

Example:
  plait exec --log -- mpirun -n 4 ./program)");
    CLI::App& command = options;
    command.prefix_command();
    std::vector<std::string> isas;
    for (const simd::Isa isa : simd::supported_isas()) isas.emplace_back(simd::name(isa));
    const auto parse_isa = [](const std::string& text) {
      static_cast<void>(simd::best_isa_within(simd::parse_isa(text)));
      return text;
    };
    add_value(command, "--isa", isa_, parse_isa, "NAME",
              fmt::format("Use no better instruction set than this: {}; sets PLAIT_ISA", either(isas)));
    command.add_flag("--reproducible", reproducible_,
                     "Give sums the same bits for any order of the ranks; sets PLAIT_REPRODUCIBLE=1");
    command.add_flag("--scalapack", scalapack_,
                     "Serve ScaLAPACK's redistributions, sums and products, too (libplait_scalapack.so), with BLAS "
                     "kernels of this processor");
    command.add_flag("--log", log_, "Rank 0 prints on stderr what was served; sets PLAIT_LOG=summary");
    command.add_flag(
        "--print", print_,
        "Print the variables, and the command if there is one, for a shell: eval \"$(plait exec --print)\"");
    usage_ = [&command] { return usage(command); };
  }

  void check() override {
    if (settings.words.empty() && !print_) {
      throw UsageError("no command is given, expected " + usage_() + "; see plait exec --help");
    }
  }

  [[nodiscard]] bool becomes_program() const override { return true; }

  /// Each process becomes a program of its own; what stops one of them stops all. 127 if it was not found, 126 if it
  /// can't be executed.
  int start(const Start& start) override {
    try {
      const std::vector<Setting> variables = all_variables();
      if (!settings.words.empty()) refuse_other_mpi(settings.words);
      if (print_) {
        print_result(text_for_shell(variables, settings.words));
        return 0;
      }
      if (!start.launch.is_own && start.launch.size > 1 && start.launch.rank == 0) {
        print_warning(
            "another MPI's launcher seems to have started this; the reductions are those for " PLAIT_MPI_FAMILY);
      }
      for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
      return become(forwarding(settings.words, variables));
    } catch (...) {
      return end_failed(start.launch, std::current_exception());
    }
  }

 private:
  [[nodiscard]] std::vector<Setting> all_variables() const {
    std::vector<Setting> variables = reduction_settings(reduction_libraries(), scalapack_);
    if (!isa_.empty()) variables.push_back({"PLAIT_ISA", isa_});
    if (reproducible_) variables.push_back({"PLAIT_REPRODUCIBLE", "1"});
    if (log_) variables.push_back({"PLAIT_LOG", "summary"});
    const auto kernels = scalapack_ ? dense::better_blas_kernels() : std::nullopt;
    if (kernels) variables.push_back({"OPENBLAS_CORETYPE", *kernels});
    // What stands in the environment is forwarded as well, so that ranks on other nodes get it.
    for (const char* const name : {"PLAIT_ISA", "PLAIT_REPRODUCIBLE", "PLAIT_LOG"}) {
      const char* const value = std::getenv(name);
      if (value != nullptr && std::ranges::find(variables, name, &Setting::name) == variables.end()) {
        variables.push_back({name, value});
      }
    }
    return variables;
  }

  std::string isa_;  // empty: as it is
  bool reproducible_ = false;
  bool log_ = false;
  bool scalapack_ = false;
  bool print_ = false;
  std::function<std::string()> usage_;
};

}  // namespace

PLAIT_JOB(exec, Exec)

}  // namespace plait::cli
