#pragma once

#include <string_view>

#include "plait/base/index.hpp"

namespace plait::cli {

/// A number of bytes, as "4096" or with a binary unit: "64K", "64M", "1G", "2T", also "64MiB"; or a decimal one:
/// "64MB".
///
/// \throws ArgumentError  naming the text and what was expected; also if it does not fit an Index
[[nodiscard]] Index parse_byte_count(std::string_view text);

}  // namespace plait::cli
