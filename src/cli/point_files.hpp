#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "plait/collective/calls.hpp"
#include "plait/io/slab.hpp"
#include "plait/layout/distributed_matrix.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/context.hpp"
#include "plait/redistribute/redistribution.hpp"

#include "cli/meter.hpp"
#include "cli/scaled_job.hpp"
#include "cli/scaled_matrix.hpp"
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
  auto slab = std::move(read_scaled<A>(context, path, file, meter.progress()).slab());
  if (slab.layout().storage() == StorageOrder::row_major) return slab;
  const auto layout = io::slab_layout(file.shape, StorageOrder::row_major, context.size());
  auto by_rows = mpi::agreed(context, [&] { return io::make_slab<A>(path, layout, context.rank()); });
  redistribute::Redistribution(context, slab.layout(), layout).execute(slab, by_rows);
  return by_rows;
}

/// All points, on every rank. Collective over `context`.
template <class A>
[[nodiscard]] std::vector<A> read_all_points(mpi::Context& context, const std::string& path, const io::MatrixFile& file,
                                             Meter& meter) {
  const auto own = read_points<A>(context, path, file, meter);
  const auto& tile = own.const_tiles()[0];
  const Index count = tile.rows() * tile.columns();
  const auto counts = mpi::all_gather(context.comm(), count);
  auto all =
      mpi::agreed(context, [&] { return std::vector<A>(static_cast<std::size_t>(layout::elements(file.shape))); });
  collective::all_gather(context, std::span<const A>(tile.data(), static_cast<std::size_t>(count)), std::span<A>(all),
                         counts);
  return all;
}

}  // namespace plait::cli
