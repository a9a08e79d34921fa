#pragma once

#include <string_view>

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

}  // namespace plait::cli
