#include "cli/transport/point_files.hpp"

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/layout/shape.hpp"
#include "plait/mpi/agreed.hpp"

namespace plait::cli {

PointsJob described_points(mpi::Context& context, const PointOptions& options, Precision precision) {
  PointsJob job;
  job.x = io::describe_columns_file(context, options.points[0]);
  job.y = io::describe_columns_file(context, options.points[1]);
  job.file = job.x;
  job.file.shape = {job.x.shape.rows, job.y.shape.rows};
  mpi::agreed(context, [&] {
    if (job.x.shape.columns == job.y.shape.columns) return;
    throw ArgumentError(fmt::format("--points: the points of {} have {} coordinates, those of {} have {}",
                                    options.points[0], job.x.shape.columns, options.points[1], job.y.shape.columns));
  });
  job.precision = precision == Precision::automatic ? Precision::f64 : precision;
  return job;
}

void tell_points(nlohmann::ordered_json& json, const PointOptions& options) {
  if (options.points.empty()) return;
  json["input"] = {{"points", options.points}, {"metric", name(options.metric)}};
  if (options.p) json["input"]["p"] = *options.p;
}

std::string costs_text(const PointOptions& options, const ScaledJob& job) {
  if (options.points.empty()) return fmt::format("C is {}", layout::to_string(job.file.shape));
  return fmt::format("C = {} of {} and {} points", name(options.metric), job.file.shape.rows, job.file.shape.columns);
}

}  // namespace plait::cli
