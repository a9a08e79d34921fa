#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "plait/base/index.hpp"

namespace plait::cli {

/// Bytes of all ranks together, and the time that passed until the last one was done.
struct Moved {
  Index bytes = 0;
  double seconds = 0;
};

/// "1.23 GB in 4.56 s, 270 MB/s"
[[nodiscard]] std::string moved_text(const Moved& moved);

[[nodiscard]] nlohmann::ordered_json json_of(const Moved& moved);

}  // namespace plait::cli
