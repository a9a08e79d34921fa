#pragma once

#include "plait/io/dtype.hpp"
#include "plait/io/progress.hpp"
#include "plait/layout/distributed_matrix.hpp"
#include "plait/mpi/context.hpp"

#include "cli/host/files.hpp"

namespace plait::cli {

/// Writes a matrix as it is distributed into a folder, which is made if it is missing: every rank its own tiles, a .npy
/// file each, in the order in which a tile is stored. Collective over `context`.
///
///     rank-0003.npy              of a rank with one tile
///     rank-0003-tile-0001.npy    of a rank with several, in the order of `Layout::tiles_of`
///     layout.json                which elements of the matrix each file holds
///
/// Everything is written aside first: if that fails, the folder is as it was, or not there. Then the old layout.json is
/// removed, the new files get their names, what else the old one listed is removed, and layout.json comes last, so that
/// a folder that has one is complete. No other file is touched.
///
/// \throws FileError  on every rank
template <io::FileElement T>
void write_folder(mpi::Context& context, const std::string& folder, const layout::DistributedMatrix<T>& matrix,
                  const io::Progress& progress);

/// Whether `write_folder` could write a matrix of this layout there, without leaving anything: before long work. `kept`
/// are files that it must neither replace nor remove. Collective over `context`.
///
/// \throws FileError  on every rank: the name is taken by what is no folder, or it can't be made or written to; one of
///                    its files can't be replaced, or is one of `kept`
void expect_writable_folder(mpi::Context& context, const std::string& folder, const layout::Layout& layout,
                            const std::vector<NamedFile>& kept);

/// The name of layout.json in such a folder.
[[nodiscard]] std::string description_in(const std::string& folder);

/// The text of layout.json: the matrix, the words of its layout if it has any (a custom one has not), the ranges
/// [begin, end) of rows that each row part of the layout holds and those of columns, and for each file the rank and the
/// two parts of which it is the product.
[[nodiscard]] std::string folder_description(const layout::Layout& layout, io::DType dtype);

}  // namespace plait::cli
