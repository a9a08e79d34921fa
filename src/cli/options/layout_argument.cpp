#include "cli/options/layout_argument.hpp"

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/io/text/text_file.hpp"
#include "plait/mpi/agreed.hpp"

#include "cli/options/custom_layout.hpp"

namespace plait::cli {

namespace {

constexpr Index longest_file = Index{1} << 30;
constexpr std::string_view expected_text = "a layout in JSON";

layout::Layout layout_of_text(std::string_view option, const layout::LayoutSpec& spec, layout::Shape shape,
                              const std::string& text_of_custom) {
  try {
    return spec.kind == layout::LayoutKind::custom ? parse_custom_layout(text_of_custom, spec, shape) : spec.on(shape);
  } catch (const Error& error) {
    throw LayoutError(fmt::format("{}: {}", option, error.what()));
  }
}

}  // namespace

std::string layout_help() {
  return R"(Layouts (LAYOUT above):
  rows@4                       whole rows, cut evenly over 4 ranks
  cols@4                       whole columns
  blocks@2x3                   one block a rank, on a process grid of 2 x 3 ranks
  block-cyclic:32x128@2x3      blocks of 32 x 128 elements dealt in turn to a grid of 2 x 3 ranks (as in ScaLAPACK)
  custom:FILE.json             any tiles of any ranks: {"row_splits": [0,4,10], "column_splits": [0,8],
                               "owners": [[1],[0]], "storage": "row"}, ranks by rows of tiles; storage may be left out
and after that, in any order, each at most once:
  ,order=col                   ranks are numbered down the columns of the grid (else along its rows)
  ,src=R,C                     row and column of the grid that own the first block; block-cyclic only
  ,storage=row|col             which neighbours lie side by side in memory (else row for rows@, col for all others)
  ,ranks=5,0,3,...             the ranks themselves, along the rows of the grid, any of them several times;
                               not together with order=
  ,within=RxC ,at=I,J          the matrix is the part that begins at (I, J) of an R x C matrix with that layout
)";
}

layout::Layout layout_of_option(mpi::Context& context, std::string_view option, const layout::LayoutSpec& spec,
                                layout::Shape shape) {
  const bool in_file = spec.kind == layout::LayoutKind::custom;
  const std::string text = in_file ? io::read_text(context, spec.path, longest_file, expected_text) : std::string();
  return mpi::agreed(context, [&] {
    auto layout = layout_of_text(option, spec, shape, text);
    if (layout.ranks() > context.size()) {
      const bool alone = context.size() == 1;
      throw LayoutError(fmt::format("{}: {} needs {} ranks, there {} {}{}", option, spec.text(), layout.ranks(),
                                    alone ? "is" : "are", context.size(),
                                    alone ? fmt::format("; start it with mpirun -n {}", layout.ranks()) : ""));
    }
    return layout;
  });
}

layout::Layout layout_of_option(std::string_view option, const layout::LayoutSpec& spec, layout::Shape shape) {
  const bool in_file = spec.kind == layout::LayoutKind::custom;
  return layout_of_text(option, spec, shape,
                        in_file ? io::read_text(spec.path, longest_file, expected_text) : std::string());
}

}  // namespace plait::cli
