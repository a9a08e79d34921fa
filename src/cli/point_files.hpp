#pragma once

#include <string>
#include <vector>

#include "plait/layout/distributed_matrix.hpp"
#include "plait/mpi/context.hpp"

#include "cli/matrix_rows.hpp"
#include "cli/meter.hpp"
#include "cli/scaled_job.hpp"
#include "cli/transport_options.hpp"

namespace plait::cli {

/// The files of --points, and what is told of them as one matrix of costs.
struct PointsJob : ScaledJob {
  io::MatrixFile x;
  io::MatrixFile y;
};

/// Looks at the files, and chooses the precision. Collective over `context`.
///
/// \throws ArgumentError  on every rank: points of different numbers of coordinates
[[nodiscard]] PointsJob described_points(mpi::Context& context, const TransportJobOptions& options);

/// A rank's share of the points, one a row. Collective over `context`.
template <class A>
[[nodiscard]] layout::DistributedMatrix<A> read_points(mpi::Context& context, const std::string& path,
                                                       const io::MatrixFile& file, Meter& meter) {
  meter.stage("reading " + path, 0, layout::elements(file.shape) * io::bytes(file.dtype));
  return read_rows<A>(context, path, file, meter.progress());
}

/// All points, on every rank. Collective over `context`.
template <class A>
[[nodiscard]] std::vector<A> read_all_points(mpi::Context& context, const std::string& path, const io::MatrixFile& file,
                                             Meter& meter) {
  meter.stage("reading " + path, 0, layout::elements(file.shape) * io::bytes(file.dtype));
  return read_all_rows<A>(context, path, file, meter.progress());
}

}  // namespace plait::cli
