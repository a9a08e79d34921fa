#pragma once

#include "plait/poisson/two_levels.hpp"

#include "cli/host/job.hpp"
#include "cli/pictures/matrix_picture.hpp"
#include "cli/poisson/sides.hpp"

namespace plait::cli {

/// What the command line of plait poisson says, and what the headers of its files tell.
struct PoissonTask {
  InputFile input, start, mask;
  std::vector<InputFile> k;  // none: 1; one: at points, or across the only axis; several: across each
  std::string output;
  Sides sides;
  std::vector<double> spacing{1};  // of all axes, or of each
  poisson::Points points = poisson::Points::cells;
  std::optional<poisson::Method> method;                         // none: as the problem is
  std::optional<double> tolerance = 1e-8;                        // none: that of the discretisation
  poisson::Options options{.sums = krylov::Sums::reproducible};  // but for these two

  bool is_by_face = false;  // k
  poisson::Grid grid;
};

/// What is known of it afterwards.
struct PoissonOutcome {
  poisson::Method method = poisson::Method::v_cycles;
  std::string why;             // that method
  double jump = 1;             // of k
  bool has_black_box = false;  // as the preconditioner
  Index outside_points = 0, parts = 1;
  double omega = 1;
  Index steps_per_exchange = 1;
  Iterated iterated;
  std::vector<double> errors;
  poisson::Solver::Check check{};
  std::string norm;  // of `errors`
  std::optional<double> hidden_reductions;
  std::optional<double> estimated_error;  // of u by the iteration, as a part of its largest value
  std::optional<double> subtracted;       // from f, the mean that has to be 0
  poisson::Balance balance;
  std::optional<poisson::Discretisation> discretisation;
  double lowest = 0, highest = 0;  // of u
  FieldPicture picture;            // of u
};

/// Looks at the headers of the files; returns what this rank needs in each phase. Collective.
/// \throws Error  on every rank: they can't be read, or do not fit each other
[[nodiscard]] std::vector<Index> prepare_poisson(Work& work, PoissonTask& task);

/// Reads, solves, checks and writes. Collective.
/// \throws Error  on every rank
[[nodiscard]] PoissonOutcome run_poisson(Work& work, const PoissonTask& task);

}  // namespace plait::cli
