#include "cli/purify/purify_options.hpp"

#include <charconv>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/job/traced_job.hpp"
#include "cli/options/machine_option.hpp"
#include "cli/options/option_value.hpp"
#include "cli/options/scalar.hpp"

namespace plait::cli {

namespace {

Index parse_count(std::string_view text, Index least) {
  Index count = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (failure != std::errc() || end != text.data() + text.size() || count < least) {
    throw ArgumentError(fmt::format("'{}' is not what is expected, a whole number from {} on", text, least));
  }
  return count;
}

double parse_energy(std::string_view text) { return Scalar(text).as<double>(); }

int parse_per_state(std::string_view text) {
  if (text != "1" && text != "2") throw ArgumentError(fmt::format("'{}' is neither 1 nor 2", text));
  return text == "1" ? 1 : 2;
}

purify::Bounds parse_bounds(std::string_view text) {
  if (text != "gershgorin" && text != "lanczos") {
    throw ArgumentError(fmt::format("'{}' is no way to bound a spectrum; expected gershgorin or lanczos", text));
  }
  return text == "lanczos" ? purify::Bounds::lanczos : purify::Bounds::gershgorin;
}

purify::Triangle parse_triangle(std::string_view text) {
  if (text != "lower" && text != "upper") {
    throw ArgumentError(fmt::format("'{}' is no triangle of a matrix; expected lower or upper", text));
  }
  return text == "lower" ? purify::Triangle::lower : purify::Triangle::upper;
}

void check_together(const PurifyOptions& options) {
  if (!options.electrons) throw UsageError("--electrons is missing: how many states are occupied?");
  if (options.method == purify::Method::mcweeny && !options.chemical_potential) {
    throw UsageError("--method is mcweeny, but --chemical-potential is missing, which it begins with");
  }
  if (options.chemical_potential && options.method && options.method != purify::Method::mcweeny) {
    throw UsageError(fmt::format("--chemical-potential is given, but --method {} finds it by itself; expected mcweeny",
                                 name(*options.method)));
  }
  if (!options.inverse_root.empty() && options.overlap.empty()) {
    throw UsageError("--inverse-root is given, but --overlap is missing, which it is checked against");
  }
  if (options.resume && options.checkpoint.empty()) {
    throw UsageError("--resume is given, but --checkpoint is missing: the file to go on from");
  }
  if (options.checkpoint_every && options.checkpoint.empty()) {
    throw UsageError("--checkpoint-every is given, but --checkpoint is missing: the file to write");
  }
}

constexpr const char* purify_footer =
    R"(H and S are symmetric (complex: Hermitian). D is the projector onto the lowest states, D = D S D, whose trace with S is
their number; with two electrons in each its energy is 2 tr(D H). Energies come in the units of H.

Methods: canonical (Palser, Manolopoulos), mcweeny (for a known chemical potential), tc2, trs4, hpcp; auto takes
canonical near half filling and tc2 else, or mcweeny where --chemical-potential is given.

A job that is stopped, however, goes on from its last checkpoint if the same command is given again with --resume, and
gives the same bits on as many ranks.

Example: the 60 pi electrons of a fullerene on 4 ranks
  mpirun -n 4 plait purify C60.npy --electrons 60 -o D.npy --report D.html)";

}  // namespace

void add_purify(CLI::App& program, PurifyOptions& options) {
  CLI::App& command =
      *program.add_subcommand("purify", "Compute the density matrix of a Hamiltonian without its eigenvectors");
  add_path(command, "IN", options.input, "FILE",
           "H: a NumPy .npy, Matrix Market or HDF5 file; FILE.h5:/path/in/it names one of several matrices")
      ->required();
  add_value(
      command, "--electrons", [&options](const std::string& text) { options.electrons = parse_count(text, 0); },
      "NUMBER", "How many electrons occupy the lowest states");
  add_value(
      command, "--per-state", [&options](const std::string& text) { options.per_state = parse_per_state(text); }, "1|2",
      "Electrons in each occupied state: 2 (a closed shell, the default) or 1");
  add_value(
      command, "--symmetric", [&options](const std::string& text) { options.symmetric = parse_triangle(text); },
      "lower|upper", "The files hold this triangle of each matrix; what is in the other one is not looked at");
  add_path(command, "--overlap", options.overlap, "FILE", "S: the overlap of the basis, where it is not orthonormal");
  add_path(command, "--inverse-root", options.inverse_root, "FILE", "S^(-1/2), if it is known; otherwise it is found");
  add_value(
      command, "--method",
      [&options](const std::string& text) {
        if (text != "auto") options.method = purify::parse_method(text);
      },
      "METHOD", "canonical, mcweeny, tc2, trs4, hpcp, or auto (the default): by the share of occupied states");
  add_value(
      command, "--chemical-potential",
      [&options](const std::string& text) { options.chemical_potential = parse_energy(text); }, "ENERGY",
      "An energy between the occupied and the empty states; for mcweeny");
  add_value(
      command, "--bounds", [&options](const std::string& text) { options.bounds = parse_bounds(text); }, "HOW",
      "How the ends of the spectrum are found: lanczos (the default, narrower) or gershgorin");
  add_value(
      command, "--most-steps", [&options](const std::string& text) { options.most_steps = parse_count(text, 1); },
      "NUMBER", "After so many steps there is taken to be no gap; 300 by default");
  add_matrix_path(command, "-o,--output", options.output, "FILE", "Where D goes: a .npy or HDF5 file");
  add_matrix_path(command, "--energy-weighted", options.energy_weighted, "FILE",
                  "Where the energy-weighted density D H D goes, likewise");
  add_path(command, "--checkpoint", options.checkpoint, "FILE",
           "Write now and then how far the job is, there and into FILE.a.npy and FILE.b.npy");
  add_value(
      command, "--checkpoint-every",
      [&options](const std::string& text) { options.checkpoint_every = parse_count(text, 1); }, "STEPS",
      "How often; 10 by default");
  command.add_flag("--resume", options.resume, "Go on from the checkpoint, if there is one");
  add_typed_path(command, "--report", options.page, "FILE.html",
                 "Write a page with the convergence, the density matrix and the timeline", "an HTML file", ".html");
  add_machine_option(command, options.machine);
  add_report_options(command, options.report);
  add_trace_option(command, options.trace);
  command.footer(purify_footer);
  command.final_callback([&options] { check_together(options); });
}

}  // namespace plait::cli
