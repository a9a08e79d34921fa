#pragma once

#include <string>
#include <string_view>

#include "plait/layout/layout.hpp"
#include "plait/layout/text.hpp"
#include "plait/mpi/context.hpp"

namespace plait::cli {

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
/// \throws LayoutError, FileError  as above
[[nodiscard]] layout::Layout layout_of_option(std::string_view option, const layout::LayoutSpec& spec,
                                              layout::Shape shape);

}  // namespace plait::cli
