#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "plait/layout/distributed_matrix.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/transport/point_transport.hpp"

#include "cli/output/meter.hpp"
#include "cli/scaling/matrix_rows.hpp"
#include "cli/scaling/scaled_job.hpp"
#include "cli/transport/point_options.hpp"

namespace plait::cli {

/// The files of --points, and what is told of them as one matrix of costs.
struct PointsJob : ScaledJob {
  io::MatrixFile x;
  io::MatrixFile y;
};

/// Looks at the files, and chooses the precision. Collective over `context`.
///
/// \throws ArgumentError  on every rank: points of different numbers of coordinates
[[nodiscard]] PointsJob described_points(mpi::Context& context, const PointOptions& options, Precision precision);

/// The options as is told of them: both files of points are their input, where there are points.
template <class Options>
[[nodiscard]] Options with_points_as_input(Options options) {
  if (!options.points.empty()) options.input = options.points[0] + " and " + options.points[1];
  return options;
}

/// Makes points the "input" of a report, where there are points.
void tell_points(nlohmann::ordered_json& json, const PointOptions& options);

/// What the costs are: "C is 3 x 4", or "C = sqeuclidean of 3 and 4 points".
[[nodiscard]] std::string costs_text(const PointOptions& options, const ScaledJob& job);

/// A rank's share of the points, one a row. Collective over `context`.
template <class A>
[[nodiscard]] layout::DistributedMatrix<A> read_points(mpi::Context& context, const std::string& path,
                                                       const io::MatrixFile& file, Meter& meter) {
  const Index bytes = layout::elements(file.shape) * io::bytes(file.dtype);
  meter.stage("reading " + path, bytes / context.size(), bytes);
  return read_rows<A>(context, path, file, meter.progress());
}

/// All points, on every rank. Collective over `context`.
template <class A>
[[nodiscard]] std::vector<A> read_all_points(mpi::Context& context, const std::string& path, const io::MatrixFile& file,
                                             Meter& meter) {
  const Index bytes = layout::elements(file.shape) * io::bytes(file.dtype);
  meter.stage("reading " + path, bytes, bytes);
  return read_all_rows<A>(context, path, file, meter.progress());
}

/// The points of --points in memory: a rank's share of X, and all of Y.
template <class A>
class PointsRead {
 public:
  /// Collective over `context`.
  PointsRead(mpi::Context& context, const PointOptions& options, const PointsJob& job, Meter& meter)
      : x_(read_points<A>(context, options.points[0], job.x, meter)),
        y_(read_all_points<A>(context, options.points[1], job.y, meter)),
        shape_of_y_(job.y.shape),
        metric_(options.metric),
        p_(options.p.value_or(2)) {}

  /// \pre  this outlives what is returned
  [[nodiscard]] sinkhorn::PointClouds<A> clouds() const {
    const auto [points, coordinates] = shape_of_y_;
    return {x_.const_tiles()[0],
            {y_.data(), points, coordinates, std::max(Index{1}, coordinates), StorageOrder::row_major},
            metric_,
            p_};
  }

 private:
  layout::DistributedMatrix<A> x_;
  std::vector<A> y_;
  layout::Shape shape_of_y_;
  sinkhorn::Metric metric_;
  double p_;
};

}  // namespace plait::cli
