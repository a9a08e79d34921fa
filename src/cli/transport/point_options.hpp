#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plait/sinkhorn/costs/point_clouds.hpp"

#include "cli/scaling/epsilon_options.hpp"
#include "cli/scaling/input_files.hpp"
#include "cli/scaling/scaled_options.hpp"

namespace CLI {
class App;
}

namespace plait::cli {

/// Two clouds of points in the place of a matrix of costs, and what ways between them cost.
struct PointOptions {
  std::vector<std::string> points;  // X and Y in the place of IN; or empty
  sinkhorn::Metric metric = sinkhorn::Metric::squared_euclidean;
  std::optional<double> p;  // of minkowski
};

/// Adds them to a command that has IN: one of both is then required.
void add_points_options(CLI::App& command, PointOptions& options);

/// The files of points, which may not be given: see `inputs_of`.
[[nodiscard]] std::vector<InputFile> inputs_of_points(const PointOptions& options);

/// \param expected  the precisions that there are with points
/// \throws UsageError  both IN and points are given, or what does not go with them
void expect_points(const PointOptions& options, const ScaledOptions& scaled, const EpsilonOptions& epsilon,
                   const char* expected);

}  // namespace plait::cli
