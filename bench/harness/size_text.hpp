#pragma once

#include <string>

#include <fmt/format.h>

#include "plait/base/index.hpp"

namespace plait::bench {

/// As sizes stand in the names of cases: "64B", "16K", "4M". Powers of two, and less than 1 K.
[[nodiscard]] inline std::string size_text(Index bytes) {
  constexpr Index kibi = 1024, mebi = kibi * kibi;
  if (bytes >= mebi) return fmt::format("{}M", bytes / mebi);
  return bytes >= kibi ? fmt::format("{}K", bytes / kibi) : fmt::format("{}B", bytes);
}

}  // namespace plait::bench
