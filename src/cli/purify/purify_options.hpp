#pragma once

#include <optional>
#include <string>

#include "plait/base/index.hpp"
#include "plait/purify/hamiltonian.hpp"
#include "plait/purify/method.hpp"
#include "plait/purify/smearing.hpp"
#include "plait/purify/spectrum.hpp"

#include "cli/options/checkpoint_options.hpp"
#include "cli/options/report_options.hpp"

namespace CLI {
class App;
}

namespace plait::cli {

/// How many iterations lie between checkpoints.
inline constexpr Index usual_checkpoint_distance = 10;

/// How the density matrix is found: by a polynomial iteration or by eigenstates; with neither, by what takes least.
struct PurifyWay {
  bool by_eigenstates = false;
  std::optional<purify::Method> method;
  friend bool operator==(const PurifyWay&, const PurifyWay&) = default;
};

/// The command line of `plait purify`.
struct PurifyOptions : CheckpointOptions {
  std::string command;                        // the whole line, as a shell takes it
  std::string input;                          // H
  std::string overlap;                        // S; empty: the basis is orthonormal
  std::optional<purify::Triangle> symmetric;  // which triangle of each matrix is read alone
  std::string inverse_root;                   // Z = S^(-1/2); empty: found by iteration
  std::optional<Index> electrons;
  int per_state = 2;
  PurifyWay way;
  purify::Smearing smearing = purify::Smearing::none;
  std::optional<double> width;        // in the units of H
  std::optional<double> temperature;  // in kelvin
  double energy_unit = 0;             // of H, in kelvin times Boltzmann's constant; 0: not given
  std::optional<double> chemical_potential;
  purify::Bounds bounds = purify::Bounds::lanczos;
  Index most_iterations = 300;
  std::string output;           // D; may be empty
  std::string energy_weighted;  // W; empty: not computed
  std::string eigenvalues;      // empty: not written
  std::string page;             // the HTML report; empty: none
  std::string trace;            // empty: none
  std::string machine;          // empty: as PLAIT_MACHINE says
  ReportOptions report;
};

/// Adds the command to the program's; parsing fills `options`.
///
/// \throws UsageError  from parsing: a value is malformed, or options contradict each other
void add_purify(CLI::App& program, PurifyOptions& options);

}  // namespace plait::cli
