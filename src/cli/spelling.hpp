#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace plait::cli {

/// The word among `known` that was probably meant by a misspelt one: the nearest, if it is near enough.
[[nodiscard]] std::optional<std::string> nearest(std::string_view word, std::span<const std::string> known);

}  // namespace plait::cli
