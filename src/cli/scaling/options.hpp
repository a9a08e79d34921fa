#pragma once

#include "plait/sinkhorn/costs/point_clouds.hpp"
#include "plait/sinkhorn/transport/transport.hpp"

#include "cli/host/options.hpp"

/// The options that jobs of matrix scaling and transport share.
namespace plait::cli {

/// What a matrix is stored in and computed with.
enum class Precision : unsigned char { automatic, f64, f32, mixed, bf16 };

/// "auto", "f64", "f32", "mixed", "bf16"
[[nodiscard]] std::string_view name(Precision precision);

/// "auto", "factors", "logarithms"
[[nodiscard]] std::string_view name(sinkhorn::Domain domain);

/// "auto", "none"
[[nodiscard]] std::string_view name(sinkhorn::Acceleration acceleration);

/// Of an element as it is stored.
[[nodiscard]] Index element_bytes(Precision precision);

struct ScalingOptions {
  std::string output;      // of the plan
  std::string of_rows;     // of the factors, potentials, masses or gradients of the rows
  std::string of_columns;  // of the columns
  std::string rows;        // marginals; empty: none
  std::string columns;
  std::string start;  // those of the columns to begin with; empty: none
  Precision precision = Precision::automatic;
  std::optional<double> tolerance;  // none: as the precision is
  sinkhorn::TransportOptions how;   // of other jobs than those with costs: the limits alone

  // Of jobs with costs: a matrix of them, or points between which they are made.
  std::vector<InputFile> points;  // X and Y; empty: costs
  std::vector<InputFile> images;  // instead: arrays of masses, at whose elements points are
  std::vector<double> spacing;    // of these; empty: 1
  sinkhorn::Metric metric = sinkhorn::Metric::squared_euclidean;
  std::optional<double> p;  // of minkowski
  double power = 1;         // of the metric

  /// What costs are, in words: "sqeuclidean", "minkowski 3 to the power 2".
  [[nodiscard]] std::string cost_name() const;
  /// The tolerance that was given, or what suits the precision.
  [[nodiscard]] double tolerance_of(Precision precision) const;
};

/// What the help calls things.
inline constexpr const char* most_in_all = "The most there may be";
inline constexpr const char* most_with_last_epsilon = "The most there may be with the last epsilon";

/// The outputs of vectors of a plan: a "factor" of each row and column.
void add_vectors(Options& command, ScalingOptions& options, const std::string& vector);

/// --rows and --columns.
void add_marginals(Options& command, ScalingOptions& options, const std::string& of_rows);

/// --start.
void add_start(Options& command, ScalingOptions& options, const std::string& vectors);

void add_precision(Options& command, ScalingOptions& options, const std::vector<Precision>& precisions);

/// --tolerance and --max-iterations, which limits `most_iterations`.
void add_limits(Options& command, ScalingOptions& options, const std::string& most_iterations);

/// Those of the host, last of all.
[[nodiscard]] HostOptions host_options();

/// --epsilon, --first-epsilon and --method.
void add_epsilon(Options& command, ScalingOptions& options);

/// --points, --metric, --p and --power, of a command that has IN: one of both is then required.
void add_points(Options& command, ScalingOptions& options);

/// --images, so many or any number of them, and --spacing.
void add_images(Options& command, ScalingOptions& options, int count, const std::string& help);

}  // namespace plait::cli
