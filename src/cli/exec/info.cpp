#include "cli/exec/info.hpp"

#include <omp.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "plait/io/hdf5/hdf5.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/redistribute/redistribution.hpp"
#include "plait/simd/isa.hpp"

#include "cli/exec/reduction_libraries.hpp"
#include "cli/job/json_values.hpp"
#include "cli/job/node.hpp"
#include "cli/options/machine_option.hpp"
#include "cli/options/report_options.hpp"
#include "cli/output/json_line.hpp"
#include "cli/output/print.hpp"
#include "cli/output/quantities.hpp"

namespace plait::cli {

namespace {

using nlohmann::ordered_json;

// All that users set and plait reads. What launchers tell their ranks is not among them.
constexpr std::array variables{"PLAIT_ISA",        "PLAIT_LOG",          "PLAIT_MACHINE",   "PLAIT_REPRODUCIBLE",
                               "PLAIT_GEMM_FROM",  "PLAIT_CLUSTER_RATE", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS",
                               "BLIS_NUM_THREADS", "MKL_NUM_THREADS"};

ordered_json values_of_variables() {
  ordered_json found;
  for (const char* const variable : variables) {
    const char* const value = std::getenv(variable);
    found[variable] = value == nullptr ? ordered_json() : ordered_json(value);
  }
  return found;
}

ordered_json hdf5() {
  const std::string version = io::hdf5_version();
  return version.empty() ? ordered_json() : ordered_json(version);
}

ordered_json library(const std::optional<std::filesystem::path>& path) {
  if (!path) return {};
  return {{"path", path->native()}, {"active", is_loaded(*path)}};
}

// The libraries that serve programs that know nothing of plait. This one has loaded them, too, if they are switched on
// where it runs.
ordered_json reductions() {
  const ReductionLibraries libraries = reduction_libraries();
  return {{"component", library(libraries.component)}, {"preload", library(libraries.preload)}};
}

std::string text_of_library(const ordered_json& library) {
  return fmt::format("{}, {}", library["path"].get<std::string>(),
                     library["active"].get<bool>() ? "in use" : "not in use: see plait exec --help");
}

std::string text_of(const ordered_json& value) {
  if (value.is_null()) return "not set";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

ordered_json gathered(const mpi::Context& context) {
  std::vector<std::string> isas;
  for (const simd::Isa isa : simd::supported_isas()) isas.emplace_back(simd::name(isa));
  const NodeMemory memory = node_memory();
  const redistribute::Options defaults;
  auto info = job_json(context, "info");
  info.update({{"processor", processor_name()},
               {"isas", isas},
               {"isa", simd::name(simd::selected_isa())},
               {"reductions", reductions()},
               {"scalapack", library(reduction_libraries().scalapack)},
               {"hdf5", hdf5()},
               {"threads_per_rank", omp_get_max_threads()},
               {"memory", {{"total_bytes", memory.total}, {"available_bytes", memory.available}}},
               {"machine", context.machine().description},
               {"environment", values_of_variables()},
               {"defaults", {{"memory_bytes", defaults.memory_budget}, {"chunk_bytes", defaults.chunk_bytes}}}});
  return info;
}

std::string text_of_info(const ordered_json& info) {
  std::string text;
  const auto line = [&text](std::string_view what, const std::string& value) {
    text += fmt::format("{:<22}{}\n", what, value);
  };
  line("plait", info["version"].get<std::string>());
  line("MPI", fmt::format("{}, {} on {}", info["mpi"].get<std::string>(), counted(info["ranks"].get<Index>(), "rank"),
                          counted(info["nodes"].get<Index>(), "node")));
  line("processor", info["processor"].get<std::string>());
  line("instruction sets", fmt::format("{}; in use: {}", fmt::join(info["isas"].get<std::vector<std::string>>(), ", "),
                                       info["isa"].get<std::string>()));
  for (const auto& [what, library] : info["reductions"].items()) {
    if (!library.is_null()) line("reductions", text_of_library(library));
  }
  if (!info["scalapack"].is_null()) line("ScaLAPACK", text_of_library(info["scalapack"]));
  line("HDF5", info["hdf5"].is_null() ? "not in this build" : info["hdf5"].get<std::string>());
  line("threads", fmt::format("{} per rank", info["threads_per_rank"].get<int>()));
  line("memory", fmt::format("{}, {} available", bytes_text(info["memory"]["total_bytes"].get<Index>()),
                             bytes_text(info["memory"]["available_bytes"].get<Index>())));
  line("machine", info["machine"].get<std::string>());
  for (const auto& [variable, value] : info["environment"].items()) line(variable, text_of(value));
  line("--memory", fmt::format("{} bytes by default, in messages of {}", info["defaults"]["memory_bytes"].get<Index>(),
                               info["defaults"]["chunk_bytes"].get<Index>()));
  return text;
}

}  // namespace

void add_info(CLI::App& program, InfoOptions& options) {
  CLI::App& command = *program.add_subcommand("info", "Print what plait finds here: MPI, processor, memory, settings");
  add_machine_option(command, options.machine);
  add_json_option(command, options.json);
  command.footer("Example:\n  mpirun -n 4 plait info");
}

void run_info(mpi::Context& context, const InfoOptions& options) {
  const ordered_json info = mpi::agreed(context, [&] { return gathered(context); });
  if (context.rank() == 0) print_result(options.json ? json_line(info) : text_of_info(info));
}

}  // namespace plait::cli
