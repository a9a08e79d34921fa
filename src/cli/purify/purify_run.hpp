#pragma once

#include "plait/base/timeline.hpp"
#include "plait/purify/dense_products.hpp"
#include "plait/purify/filling.hpp"
#include "plait/purify/hamiltonian.hpp"
#include "plait/purify/method.hpp"
#include "plait/purify/orthogonal.hpp"
#include "plait/purify/purification.hpp"
#include "plait/purify/spectrum.hpp"
#include "plait/purify/ways.hpp"

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
  InputFile input;                            // H
  std::vector<InputFile> more_inputs;         // those of --points
  InputFile overlap;                          // S; none: the basis is orthonormal
  InputFile start;                            // D of a Hamiltonian near H; may be none
  InputFile inverse_root;                     // Z = S^(-1/2); none: found by iteration
  std::optional<purify::Triangle> symmetric;  // which triangle of each matrix is read alone
  std::optional<double> electrons;
  int per_state = 2;
  PurifyWay way;
  purify::Smearing smearing = purify::Smearing::none;
  std::optional<double> chemical_potential;
  purify::Bounds bounds = purify::Bounds::lanczos;
  bool is_mixed = false;  // early steps are made in single precision
  Index most_iterations = 300;
  std::string output;           // D; may be empty
  std::string energy_weighted;  // W; empty: not computed
  std::string eigenvalues;      // empty: not written

  std::vector<double> weights;  // of the k-points, then of all points, so that those of each spin are 1 together
  int spins = 1;

  Index states = 0;
  Index occupied = 0;  // the last of them in part, where the electrons do not fill them
  double filled = 0;   // states' worth of electrons
  double width = 0;    // of the smearing, in the units of H
  bool by_eigenstates = false;
  purify::Method method = purify::Method::canonical;
  purify::Squares squares{};
  std::vector<purify::Way> ways;  // of which `auto` took the first; none where it had no choice
  purify::Prospect prospect;      // by which
  bool is_complex = false;        // any of the matrices

  [[nodiscard]] Index element_bytes() const noexcept { return is_complex ? 16 : 8; }
  [[nodiscard]] bool is_smeared() const noexcept { return width > 0; }
  /// Whether several Hamiltonians share the electrons.
  [[nodiscard]] bool has_points() const noexcept { return !more_inputs.empty() || input.extents.dimensions == 3; }
  [[nodiscard]] Index points() const;
  /// States' worth of room for electrons.
  [[nodiscard]] Index room() const noexcept { return states * spins; }
  /// Whether there is room for more electrons and for fewer, so that a chemical potential is between them.
  [[nodiscard]] bool is_partly_filled() const noexcept { return filled > 0 && filled < static_cast<double>(room()); }
  /// Whether there are states on both sides of a gap.
  [[nodiscard]] bool is_split() const noexcept { return !is_smeared() && is_partly_filled(); }
  /// "30 of 60 states", "60 states" where they are filled in part, "60 states at 8 points"
  [[nodiscard]] std::string states_text() const {
    if (has_points()) return fmt::format("{} states at {}", states, counted(points(), "point"));
    return fmt::format("{}{} states", is_smeared() ? "" : fmt::format("{} of ", occupied), states);
  }
  /// The word of --method for it.
  [[nodiscard]] std::string_view method_name() const { return by_eigenstates ? "eigen" : name(method); }
  /// What eigenstates are estimated to take, where an iteration may be left for them.
  [[nodiscard]] std::optional<double> seconds_of_eigenstates() const {
    if (by_eigenstates) return std::nullopt;
    const auto found = std::ranges::find_if(ways, [](const purify::Way& way) { return !way.method; });
    return found == ways.end() ? std::nullopt : std::optional(found->seconds);
  }
};

/// How many n × n matrices a file has.
[[nodiscard]] inline Index matrices_in(const io::MatrixFile& file) noexcept {
  return file.extents.dimensions == 3 ? file.extents.values[0] : 1;
}
inline Index PurifyTask::points() const {
  Index count = matrices_in(input);
  for (const InputFile& file : more_inputs) count += matrices_in(file);
  return count;
}

/// One of several Hamiltonians that share their electrons.
struct PurifiedPoint {
  double weight = 0;
  double filled = 0;          // states' worth of electrons
  double energy = 0;          // tr(DH)
  purify::Frontier frontier;  // states more and less than half full
  std::vector<int> ranks;     // that worked at it
};

/// Results. Each number is the same on all ranks.
struct PurifyOutcome {
  purify::State state;
  purify::Interval chemical_potentials;
  purify::Frontier frontier;
  std::vector<double> energies;  // of all eigenstates, where they were found
  purify::Filling filling;       // of these
  std::vector<PurifiedPoint> points;
  std::array<Index, 2> frontier_points{};  // at which the states at the gap are
  double direct_gap = 0;                   // the least of one point
  double energy = 0;                       // per_state · tr(DH)
  purify::DensityErrors errors;
  std::optional<purify::InverseRoot> root;
  Index left_after = 0;             // steps: then eigenstates were found in place of more; 0 if not
  double seconds_left = 0;          // that more would have taken
  Index resumed_at = 0;             // steps that a checkpoint had, 0 without
  bool other_ranks = false;         // the checkpoint was written by another number of ranks
  Index multiplications = 0;        // of this run's iteration
  Index early_multiplications = 0;  // those of them in single precision
  double product_seconds = 0;       // of the products of the steps of this run, on the slowest rank
  double flops = 0;                 // of these
  std::string products;             // how they were done
  Index received_bytes = 0;         // by the busiest rank, in the iteration
  double least_bytes = 0;           // that it had to receive at least; 0 with one rank
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

/// The same of several Hamiltonians.
[[nodiscard]] PurifyOutcome run_points(Work& work, const PurifyTask& task);

/// A matrix that was read, in any layout, Hermitian to the last bit; `path` is what errors call it. Collective.
template <class T>
[[nodiscard]] purify::Matrix<T> hermitian(Work& work, const PurifyTask& task, purify::Matrix<T> matrix,
                                          const std::string& path) {
  if (task.symmetric) {
    try {
      purify::expect_triangle(work.context, matrix, *task.symmetric, path);
    } catch (const purify::OneTriangle& error) {
      throw ArgumentError(fmt::format("{}; expected --symmetric {}", error.what(), name(error.triangle())));
    }
    purify::fill_from_triangle(work.context, matrix, *task.symmetric);
  }
  purify::expect_finite(work.context, matrix, path);
  try {
    purify::make_hermitian(work.context, matrix, path);
  } catch (const purify::OneTriangle& error) {
    throw ArgumentError(
        fmt::format("{}; --symmetric {} takes them for both triangles", error.what(), name(error.triangle())));
  }
  return matrix;
}

/// The elements of D, complex ones by their sizes. Collective.
template <class T>
[[nodiscard]] MatrixPicture picture_of(mpi::Context& context, const purify::Matrix<T>& d) {
  auto picture = mpi::agreed(context, [&] { return MatrixPicture(d.layout().shape()); });
  d.for_each_element([&](Index row, Index column, const T& element) {
    if constexpr (std::is_same_v<T, double>) {
      picture.add(row, column, element);
    } else {
      picture.add(row, column, std::abs(element));
    }
  });
  picture.unite(context);
  return picture;
}

/// Says what was found, in the summary, on the page and in --json.
void report_purification(Report& report, Work& work, const PurifyTask& task, const PurifyOutcome& outcome);

/// Draws the page of --report: convergence or occupations, D, and the timeline of the iterations. On rank 0.
void draw_purification(Report& report, Work& work, const PurifyTask& task, const PurifyOutcome& outcome);

}  // namespace plait::cli
