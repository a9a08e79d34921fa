#pragma once

#include <string_view>

#include "plait/io/dtype.hpp"
#include "plait/io/progress.hpp"
#include "plait/layout/distributed_matrix.hpp"
#include "plait/layout/layout.hpp"
#include "plait/layout/text.hpp"
#include "plait/mpi/context.hpp"

#include "cli/host/files.hpp"

namespace plait::cli {

/// The layout of a matrix of this shape that the text of a JSON file describes:
///
///     {"row_splits": [0, 4, 10], "column_splits": [0, 8], "owners": [[1], [0]], "storage": "row"}
///
/// Tile (i, j) is rows [row_splits[i], row_splits[i+1]) by columns [column_splits[j], column_splits[j+1]) and belongs
/// to rank owners[i][j]. "storage" is "col" if not there. `spec` is what named the file: its storage=, within= and at=
/// hold as for other layouts, and its storage= instead of the file's.
///
/// \throws LayoutError  beginning with spec.path: no JSON, keys missing, unknown or given twice, values of the wrong
///                      kind, splits and owners that do not fit each other, or a matrix of another shape
[[nodiscard]] layout::Layout parse_custom_layout(std::string_view json, const layout::LayoutSpec& spec,
                                                 layout::Shape shape);

/// The file of a custom layout is read: no other one may replace it.
void declare_layout_file(JobFiles& files, const char* option, const layout::LayoutSpec& spec);

/// The grammar of layouts, for the help.
[[nodiscard]] std::string layout_help();

/// The layout that an option asks for, of a matrix of this shape; the file of a custom one is read by rank 0.
/// Collective over `context`.
///
/// \throws LayoutError  on every rank, naming the option: the layout does not suit the shape, needs more ranks than
///                      there are, or its file is malformed
/// \throws FileError    on every rank: its file can't be read
[[nodiscard]] layout::Layout layout_of_option(mpi::Context& context, std::string_view option,
                                              const layout::LayoutSpec& spec, layout::Shape shape);

/// The same for one process that only asks about the layout, on however many ranks.
///
/// \throws UsageError              the layout does not suit the shape
/// \throws LayoutError, FileError  its file is malformed, or can't be read
[[nodiscard]] layout::Layout layout_of_option(std::string_view option, const layout::LayoutSpec& spec,
                                              layout::Shape shape);

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
