#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "plait/collective/calls.hpp"
#include "plait/io/file_kind.hpp"
#include "plait/io/progress.hpp"
#include "plait/io/slab.hpp"
#include "plait/layout/distributed_matrix.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/context.hpp"
#include "plait/redistribute/redistribution.hpp"

#include "cli/scaling/scaled_matrix.hpp"

namespace plait::cli {

/// A rank's share of the rows of a matrix of any real type, row-major, in whatever order the file has it. Collective
/// over `context`.
template <class A>
[[nodiscard]] layout::DistributedMatrix<A> read_rows(mpi::Context& context, const std::string& path,
                                                     const io::MatrixFile& file, const io::Progress& progress) {
  auto slab = std::move(read_scaled<A>(context, path, file, progress).slab());
  if (slab.layout().storage() == StorageOrder::row_major) return slab;
  const auto layout = io::slab_layout(file.shape, StorageOrder::row_major, context.size());
  auto by_rows = mpi::agreed(context, [&] { return io::make_slab<A>(path, layout, context.rank()); });
  redistribute::Redistribution(context, slab.layout(), layout).execute(slab, by_rows);
  return by_rows;
}

/// All rows, on every rank, one after the other. Collective over `context`.
template <class A>
[[nodiscard]] std::vector<A> read_all_rows(mpi::Context& context, const std::string& path, const io::MatrixFile& file,
                                           const io::Progress& progress) {
  const auto own = read_rows<A>(context, path, file, progress);
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
