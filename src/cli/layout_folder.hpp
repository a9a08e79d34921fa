#pragma once

#include <string>

#include "plait/io/dtype.hpp"
#include "plait/io/progress.hpp"
#include "plait/layout/distributed_matrix.hpp"
#include "plait/mpi/context.hpp"

namespace plait::cli {

/// Writes a matrix as it is distributed into a folder, which is made if it is missing: every rank its own tiles, a .npy
/// file each, in the order in which a tile is stored. Collective over `context`.
///
///     rank-0003.npy              of a rank with one tile
///     rank-0003-tile-0001.npy    of a rank with several, in the order of `Layout::tiles_of`
///     layout.json                which elements of the matrix each file holds
///
/// layout.json is removed first and written last, so that a folder that has one is complete. Files of these names that
/// an earlier matrix left and this one does not have are removed.
///
/// \throws FileError  on every rank
template <io::FileElement T>
void write_folder(mpi::Context& context, const std::string& folder, const layout::DistributedMatrix<T>& matrix,
                  const io::Progress& progress);

/// Whether `write_folder` could write there, without writing: for one rank, before long work.
///
/// \throws FileError  the name is taken by what is no folder, or a folder that is there can't be written to
void expect_writable_folder(const std::string& folder);

/// The text of layout.json: the matrix, the ranges [begin, end) of rows that each row part of the layout holds and
/// those of columns, and for each file the rank and the two parts of which it is the product.
[[nodiscard]] std::string folder_description(const layout::Layout& layout, io::DType dtype);

}  // namespace plait::cli
