#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plait/sinkhorn/transport/point_transport.hpp"
#include "plait/sinkhorn/transport/transport.hpp"

#include "cli/scaling/epsilon_options.hpp"
#include "cli/scaling/scaled_options.hpp"

namespace CLI {
class App;
}

namespace plait::cli {

/// The command line of `plait transport`.
struct TransportJobOptions : ScaledOptions, EpsilonOptions {
  std::vector<std::string> points;  // X and Y in the place of IN; or empty
  sinkhorn::Metric metric = sinkhorn::Metric::squared_euclidean;
  std::optional<double> p;  // of minkowski
  std::string map;          // where the barycentric projection goes; may be empty
  sinkhorn::Rho rho = {};   // of rows and columns of the file
};

/// Some of its options, for commands that have transports to do: two files of points in the place of IN, and what ways
/// between them cost.
void add_points_options(CLI::App& command, TransportJobOptions& options);

/// \throws UsageError  neither IN nor points are given, or both, or what does not go with them
void expect_points(const TransportJobOptions& options);

/// Adds the command to the program's; parsing fills `options`.
///
/// \throws UsageError  from parsing: a value is malformed, or options contradict each other
void add_transport(CLI::App& program, TransportJobOptions& options);

}  // namespace plait::cli
