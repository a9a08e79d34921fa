#pragma once

#include "plait/base/timeline.hpp"
#include "plait/purify/dense_products.hpp"
#include "plait/purify/filling.hpp"
#include "plait/purify/hamiltonian.hpp"
#include "plait/purify/method.hpp"
#include "plait/purify/orthogonal.hpp"
#include "plait/purify/purification.hpp"
#include "plait/purify/spectrum.hpp"

#include "cli/host/job.hpp"
#include "cli/pictures/matrix_picture.hpp"

namespace plait::cli {

/// How the density matrix is found: by a polynomial iteration or by eigenstates; with neither, by what takes least.
struct PurifyWay {
  bool by_eigenstates = false;
  std::optional<purify::Method> method;
  friend bool operator==(const PurifyWay&, const PurifyWay&) = default;
};

/// What is to be computed: first as it is given, then what is known of it before an element is read.
struct PurifyTask {
  std::string input;                          // H
  std::string overlap_path;                   // S; empty: the basis is orthonormal
  std::string start;                          // D of a Hamiltonian near H; may be empty
  std::string inverse_root_path;              // Z = S^(-1/2); empty: found by iteration
  std::optional<purify::Triangle> symmetric;  // which triangle of each matrix is read alone
  std::optional<Index> electrons;
  int per_state = 2;
  PurifyWay way;
  purify::Smearing smearing = purify::Smearing::none;
  std::optional<double> chemical_potential;
  purify::Bounds bounds = purify::Bounds::lanczos;
  Index most_iterations = 300;
  std::string output;           // D; may be empty
  std::string energy_weighted;  // W; empty: not computed
  std::string eigenvalues;      // empty: not written

  io::MatrixFile hamiltonian;
  std::optional<io::MatrixFile> start_file;
  std::optional<io::MatrixFile> overlap;
  std::optional<io::MatrixFile> inverse_root;
  Index states = 0;
  Index occupied = 0;  // the last of them in part, where the electrons do not fill them
  double filled = 0;   // states' worth of electrons
  double width = 0;    // of the smearing, in the units of H
  bool by_eigenstates = false;
  purify::Method method = purify::Method::canonical;
  purify::Squares squares{};
  bool is_complex = false;  // any of the matrices

  [[nodiscard]] Index element_bytes() const noexcept { return is_complex ? 16 : 8; }
  [[nodiscard]] bool is_smeared() const noexcept { return width > 0; }
  /// Whether there is room for more electrons and for fewer, so that a chemical potential is between them.
  [[nodiscard]] bool is_partly_filled() const noexcept { return filled > 0 && filled < static_cast<double>(states); }
  /// Whether there are states on both sides of a gap.
  [[nodiscard]] bool is_split() const noexcept { return !is_smeared() && is_partly_filled(); }
  /// The word of --method for it.
  [[nodiscard]] std::string_view method_name() const { return by_eigenstates ? "eigen" : name(method); }
};

/// Results. Each number is the same on all ranks.
struct PurifyOutcome {
  purify::State state;
  purify::Interval chemical_potentials;
  purify::Frontier frontier;
  std::vector<double> energies;  // of all eigenstates, where they were found
  purify::Filling filling;       // of these
  double energy = 0;             // per_state · tr(DH)
  purify::DensityErrors errors;
  std::optional<purify::InverseRoot> root;
  Index resumed_at = 0;        // steps that a checkpoint had, 0 without
  bool other_ranks = false;    // the checkpoint was written by another number of ranks
  Index multiplications = 0;   // of this run's iteration
  double product_seconds = 0;  // of the products of the steps of this run, on the slowest rank
  double flops = 0;            // of these
  std::string products;        // how they were done
  Index received_bytes = 0;    // by the busiest rank, in the iteration
  double least_bytes = 0;      // that it had to receive at least; 0 with one rank
  double read_seconds = 0;
  double prepare_seconds = 0;  // going to an orthonormal basis and bounding the spectrum, or finding eigenstates
  double purify_seconds = 0;
  double check_seconds = 0;  // states at the gap, going back to the basis that was given, checks
  double write_seconds = 0;
  Nanoseconds loop_begin = never;  // of the steps, on this rank's steady clock
  Nanoseconds loop_end = never;
  MatrixPicture picture;  // for --report

  /// Whether the states at the gap are known, or only bounds of them.
  [[nodiscard]] bool is_gap_resolved() const { return frontier.is_resolved(state.problem.spectrum.width()); }
};

/// Computes and writes; the result is checked, and nothing is written if that fails. Collective over the context.
///
/// \throws Error  on every rank
[[nodiscard]] PurifyOutcome run_purification(Work& work, const PurifyTask& task);

/// Says what was found, in the summary, on the page and in --json.
void report_purification(Report& report, Work& work, const PurifyTask& task, const PurifyOutcome& outcome);

/// Draws the page of --report: convergence or occupations, D, and the timeline of the iterations. On rank 0.
void draw_purification(Report& report, Work& work, const PurifyTask& task, const PurifyOutcome& outcome);

}  // namespace plait::cli
