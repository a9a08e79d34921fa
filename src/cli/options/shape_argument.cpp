#include "cli/options/shape_argument.hpp"

#include <charconv>

#include <fmt/format.h>

#include "plait/base/error.hpp"

namespace plait::cli {

namespace {

bool is_extent(std::string_view text, Index& extent) {
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), extent);
  return failure == std::errc() && end == text.data() + text.size() && extent >= 0;
}

}  // namespace

layout::Shape parse_shape(std::string_view text) {
  const auto cross = text.find('x');
  layout::Shape shape;
  const bool parsed = cross != std::string_view::npos && is_extent(text.substr(0, cross), shape.rows) &&
                      is_extent(text.substr(cross + 1), shape.columns);
  if (!parsed) throw ArgumentError(fmt::format("'{}' is no shape; expected rows x columns, such as 8000x6000", text));
  static_cast<void>(layout::elements(shape));
  return shape;
}

}  // namespace plait::cli
