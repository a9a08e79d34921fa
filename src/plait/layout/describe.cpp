#include <fmt/format.h>

#include "plait/layout/text.hpp"

namespace plait::layout {

namespace {

constexpr Index most_listed = 16;  // more ranks than these would drown the line

std::optional<LayoutKind> kind_of(const Layout& layout) {
  if (layout.rows().cutting() != layout.columns().cutting()) return std::nullopt;
  switch (layout.rows().cutting()) {
    case Cutting::cyclic: return LayoutKind::block_cyclic;
    case Cutting::listed: return std::nullopt;
    case Cutting::even: break;
  }
  const bool one_row = layout.rows().parts() == 1;
  const bool one_column = layout.columns().parts() == 1;
  if (one_column && !(one_row && layout.storage() == StorageOrder::column_major)) return LayoutKind::rows;
  return one_row ? LayoutKind::columns : LayoutKind::blocks;
}

std::vector<int> all_owners(const Owners& owners) {
  std::vector<int> ranks;
  ranks.reserve(static_cast<std::size_t>(owners.rows() * owners.columns()));
  for (Index row = 0; row < owners.rows(); ++row) {
    for (Index column = 0; column < owners.columns(); ++column) ranks.push_back(owners.owner(row, column));
  }
  return ranks;
}

/// Whether ranks are numbered from 0 on, so that the text form need not list them.
bool needs_no_list(const Owners& owners) { return owners.is_grid() && owners.first_rank() == 0; }

/// The words for everything but listed ranks.
std::optional<LayoutSpec> spec_without_list(const Layout& layout) {
  const std::optional<LayoutKind> kind = kind_of(layout);
  if (!kind) return std::nullopt;
  const Axis& rows = layout.rows();
  const Axis& columns = layout.columns();

  LayoutSpec spec;
  spec.kind = *kind;
  if (*kind == LayoutKind::block_cyclic) {
    spec.block_rows = rows.block();
    spec.block_columns = columns.block();
  }
  spec.grid_rows = rows.parts();
  spec.grid_columns = columns.parts();
  spec.first_row_part = rows.first_part();
  spec.first_column_part = columns.first_part();
  if (layout.storage() != default_storage(*kind)) spec.storage = layout.storage();
  if (needs_no_list(layout.owners())) spec.order = layout.owners().order();
  if (const Shape whole{rows.original_extent(), columns.original_extent()}; whole != layout.shape()) {
    spec.within = whole;
    spec.row = rows.offset();
    spec.column = columns.offset();
  }
  return spec;
}

std::string_view name(Cutting cutting) {
  switch (cutting) {
    case Cutting::cyclic: return "cyclic";
    case Cutting::even: return "even";
    case Cutting::listed: break;
  }
  return "custom";
}

std::string describe_without_text_form(const Layout& layout) {
  const Cutting rows = layout.rows().cutting();
  const Cutting columns = layout.columns().cutting();
  const bool custom = rows == Cutting::listed && columns == Cutting::listed;
  const std::string cut = custom ? "custom" : fmt::format("{} by {}", name(rows), name(columns));
  return fmt::format("{} {}x{} tiles of {} over {} ranks", cut, layout.rows().parts(), layout.columns().parts(),
                     to_string(layout.shape()), layout.owners().distinct());
}

}  // namespace

std::optional<LayoutSpec> spec_of(const Layout& layout) {
  std::optional<LayoutSpec> spec = spec_without_list(layout);
  if (spec && !needs_no_list(layout.owners())) spec->listed_ranks = all_owners(layout.owners());
  return spec;
}

std::string describe(const Layout& layout) {
  const Owners& owners = layout.owners();
  std::optional<LayoutSpec> spec = spec_without_list(layout);
  if (!spec) return describe_without_text_form(layout);
  const std::string shape = to_string(layout.shape());
  if (needs_no_list(owners)) return fmt::format("{} of {}", spec->text(), shape);
  if (owners.rows() * owners.columns() > most_listed) {
    return fmt::format("{} of {} over {} listed ranks", spec->text(), shape, owners.distinct());
  }
  spec->listed_ranks = all_owners(owners);
  return fmt::format("{} of {}", spec->text(), shape);
}

}  // namespace plait::layout
