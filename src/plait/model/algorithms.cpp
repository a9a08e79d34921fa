#include "plait/model/algorithms.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "plait/base/error.hpp"

namespace plait::model {

std::size_t find_algorithm(std::string_view text, std::string_view operation, std::span<const std::string_view> names) {
  const auto found = std::ranges::find(names, text);
  if (found == names.end()) {
    throw ArgumentError(
        fmt::format("'{}' is no algorithm of {}; expected one of {}", text, operation, fmt::join(names, ", ")));
  }
  return static_cast<std::size_t>(found - names.begin());
}

}  // namespace plait::model
