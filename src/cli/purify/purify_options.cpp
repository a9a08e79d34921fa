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

void check_together(const PurifyOptions& options) {
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
  expect_checkpoint(options);
}

constexpr const char* purify_footer =
    R"(H and S are symmetric (complex: Hermitian). D is the projector onto the lowest states: D = D S D, and tr(D S) is their
number. With two electrons in each state the energy is 2 tr(D H). Energies have the units of H.

Methods: canonical (Palser, Manolopoulos), mcweeny (for a known chemical potential), tc2, trs4, hpcp; auto takes
canonical near half filling, tc2 otherwise, and mcweeny where --chemical-potential is given.

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
  add_choice(command, "--method", options.method,
             {{"auto", std::nullopt},
              {"canonical", Method::canonical},
              {"mcweeny", Method::mcweeny},
              {"tc2", Method::tc2},
              {"trs4", Method::trs4},
              {"hpcp", Method::hpcp}},
             "METHOD", "Algorithm: {}");
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
