#include "cli/purify/purify_options.hpp"

#include <optional>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/job/traced_job.hpp"
#include "cli/options/checkpoint_options.hpp"
#include "cli/options/machine_option.hpp"
#include "cli/options/number_argument.hpp"
#include "cli/options/option_value.hpp"
#include "cli/options/scalar.hpp"

namespace plait::cli {

namespace {

double parse_energy(std::string_view text) { return Scalar(text).as<double>(); }

void check_smearing(const PurifyOptions& options) {
  const bool is_smeared = options.smearing != purify::Smearing::none;
  if (!is_smeared && (options.width || options.temperature)) {
    throw UsageError(fmt::format("--{} is given, but --smearing is missing, which it is of",
                                 options.width ? "width" : "temperature"));
  }
  if (is_smeared && options.width.has_value() == options.temperature.has_value()) {
    throw UsageError(fmt::format("--smearing is {}, but {}", name(options.smearing),
                                 options.width ? "both --width and --temperature are given, expected one of them"
                                               : "--width (or --temperature) is missing"));
  }
  if (options.temperature && options.smearing != purify::Smearing::fermi_dirac) {
    throw UsageError(fmt::format("--temperature is given, but --smearing is {}, which has none; expected --width",
                                 name(options.smearing)));
  }
  if (options.temperature.has_value() != (options.energy_unit != 0)) {
    throw UsageError(options.temperature ? "--temperature is given, but --energy-unit is missing: that of H"
                                         : "--energy-unit is given, but --temperature is missing, which it converts");
  }
}

void check_eigenstates(const PurifyOptions& options) {
  const std::string needed = options.smearing != purify::Smearing::none ? "--smearing"
                             : !options.eigenvalues.empty()             ? "--eigenvalues"
                                                                        : "";
  if (!needed.empty() && options.way.method) {
    throw UsageError(fmt::format("{} takes eigenstates, but --method is {}; expected eigen or auto", needed,
                                 name(*options.way.method)));
  }
  if (needed.empty() && !options.way.by_eigenstates) return;
  const std::string cause = options.way.by_eigenstates ? "--method is eigen" : needed + " takes eigenstates";
  const auto refuse = [&](const char* option, const char* why) {
    throw UsageError(fmt::format("{} is given, but {}, and {}", option, cause, why));
  };
  if (options.chemical_potential) refuse("--chemical-potential", "it is found from the number of electrons");
  if (!options.inverse_root.empty()) refuse("--inverse-root", "they take Cholesky's factor of S instead");
  if (!options.checkpoint.empty()) refuse("--checkpoint", "there are no iterations to go on from");
}

void check_together(const PurifyOptions& options) {
  if (options.way.method == purify::Method::mcweeny && !options.chemical_potential) {
    throw UsageError("--method is mcweeny, but --chemical-potential is missing, which it begins with");
  }
  if (options.chemical_potential && options.way.method && options.way.method != purify::Method::mcweeny) {
    throw UsageError(fmt::format("--chemical-potential is given, but --method {} finds it by itself; expected mcweeny",
                                 name(*options.way.method)));
  }
  if (!options.inverse_root.empty() && options.overlap.empty()) {
    throw UsageError("--inverse-root is given, but --overlap is missing, which it is checked against");
  }
  expect_checkpoint(options);
  check_smearing(options);
  check_eigenstates(options);
}

double parse_positive(std::string_view text) {
  const double value = Scalar(text).as<double>();
  if (!(value > 0)) throw ArgumentError(fmt::format("is {}, expected a positive number", text));
  return value;
}

// In kelvin, over Boltzmann's constant: CODATA 2018.
constexpr double kelvin_in_electronvolt = 11604.518121550082;
constexpr double kelvin_in_hartree = 315775.02480407;

constexpr const char* purify_footer =
    R"(H and S are symmetric (complex: Hermitian). D is the projector onto the lowest states: D = D S D, and tr(D S) is their
number. With two electrons in each state the energy is 2 tr(D H). Energies have the units of H.

Methods: canonical (Palser, Manolopoulos), mcweeny (for a known chemical potential), tc2, trs4, hpcp, which iterate, and
eigen, which finds all eigenstates by ScaLAPACK. auto takes eigen for --smearing and --eigenvalues, mcweeny where
--chemical-potential is given, otherwise canonical near half filling and tc2 elsewhere.

Without a gap there is no D: --smearing occupies the states around the chemical potential in part.

A stopped job goes on from its last checkpoint when the same command runs again with --resume; on as many ranks, with
the same bits.

Example: the 60 pi electrons of a fullerene on 4 ranks
  mpirun -n 4 plait purify C60.npy --electrons 60 -o D.npy --report D.html)";

}  // namespace

void add_purify(CLI::App& program, PurifyOptions& options) {
  using purify::Method;
  CLI::App& command =
      *program.add_subcommand("purify", "Compute the density matrix of a Hamiltonian without its eigenvectors");
  add_path(command, "IN", options.input, "FILE",
           "H: a NumPy .npy, Matrix Market or HDF5 file; FILE.h5:/path/in/it names one of several matrices")
      ->required();
  add_value(
      command, "--electrons", options.electrons, [](std::string_view text) { return parse_count(text, 0); }, "COUNT",
      "Electrons in the lowest states")
      ->required();
  add_choice(command, "--per-state", options.per_state, {{"1", 1}, {"2", 2}}, "1|2",
             "Electrons in each occupied state: {}");
  add_matrix_path(command, "-o,--output", options.output, "FILE", "D: a .npy or HDF5 file");
  add_matrix_path(command, "--energy-weighted", options.energy_weighted, "FILE",
                  "The energy-weighted density D H D: a .npy or HDF5 file");
  add_choice(command, "--symmetric", options.symmetric,
             {{"lower", purify::Triangle::lower}, {"upper", purify::Triangle::upper}}, "lower|upper",
             "The files hold this triangle of each matrix, {}; the other one is ignored");
  add_path(command, "--overlap", options.overlap, "FILE", "S: the overlap of the basis, if it is not orthonormal");
  add_path(command, "--inverse-root", options.inverse_root, "FILE", "S^(-1/2), if it is known");
  add_choice(command, "--method", options.way,
             {{"auto", {}},
              {"canonical", {false, Method::canonical}},
              {"mcweeny", {false, Method::mcweeny}},
              {"tc2", {false, Method::tc2}},
              {"trs4", {false, Method::trs4}},
              {"hpcp", {false, Method::hpcp}},
              {"eigen", {true, std::nullopt}}},
             "METHOD", "Algorithm: {}");
  add_npy_path(command, "--eigenvalues", options.eigenvalues, "FILE", "All eigenvalues, increasing: a .npy file");
  add_choice(command, "--smearing", options.smearing,
             named({purify::Smearing::none, purify::Smearing::fermi_dirac, purify::Smearing::gaussian,
                    purify::Smearing::methfessel_paxton}),
             "KIND", "How occupations fall from 1 to 0: {}");
  add_value(command, "--width", options.width, parse_positive, "ENERGY", "That of the smearing, in the units of H");
  add_value(command, "--temperature", options.temperature, parse_positive, "KELVIN",
            "The same for fermi-dirac, with --energy-unit");
  add_choice(command, "--energy-unit", options.energy_unit,
             {{"hartree", kelvin_in_hartree}, {"rydberg", kelvin_in_hartree / 2}, {"eV", kelvin_in_electronvolt}},
             "UNIT", "That of H: {}");
  add_value(command, "--chemical-potential", options.chemical_potential, parse_energy, "ENERGY",
            "An energy between the occupied and the empty states, for mcweeny; in the units of H");
  add_choice(command, "--bounds", options.bounds,
             {{"lanczos", purify::Bounds::lanczos}, {"gershgorin", purify::Bounds::gershgorin}}, "METHOD",
             "How to bound the spectrum: {}; lanczos is narrower");
  add_value(command, "--max-iterations", options.most_iterations, parse_positive_count, "COUNT",
            "After so many the job fails, as if there were no gap; 300 by default")
      ->group(group::iteration);
  add_checkpoint_options(command, options, usual_checkpoint_distance);
  add_machine_option(command, options.machine);
  add_page_option(command, options.page, "the convergence, the density matrix and the timeline");
  add_trace_option(command, options.trace);
  add_report_options(command, options.report);
  command.footer(purify_footer);
  command.final_callback([&options] { check_together(options); });
}

}  // namespace plait::cli
