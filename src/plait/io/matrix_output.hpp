#pragma once

#include <string>
#include <string_view>

#include "plait/base/matrix_view.hpp"
#include "plait/io/extents.hpp"
#include "plait/io/progress.hpp"
#include "plait/io/slab.hpp"
#include "plait/mpi/context.hpp"

/// Files with a matrix that are written, of the kind that their name tells: HDF5 if it is FILE.h5, FILE.hdf5 or such a
/// name with a data set, .npy otherwise.
namespace plait::io {

/// The order in which such a file can hold a matrix: `wanted`, but by rows in HDF5, which has no other.
[[nodiscard]] StorageOrder written_order(std::string_view path, StorageOrder wanted);

/// Throws what would stop `write_matrix_file` as far as it can be told now, before what is to be written is computed.
/// Collective over `context`.
///
/// \throws Error  on every rank: see write_npy and write_hdf5
void expect_writable_matrix(mpi::Context& context, const std::string& path);

/// See write_npy and write_hdf5. Collective over `context`.
///
/// \pre  slab.layout() == slab_layout(shape, written_order(path, order), context.size()) for one of the orders
/// \throws Error  on every rank
void write_matrix_file(mpi::Context& context, const std::string& path, const Extents& extents, const WrittenSlab& slab,
                       const Progress& progress = {});
inline void write_matrix_file(mpi::Context& context, const std::string& path, const WrittenSlab& slab,
                              const Progress& progress = {}) {
  write_matrix_file(context, path, Extents::of(slab.layout.shape()), slab, progress);
}

}  // namespace plait::io
