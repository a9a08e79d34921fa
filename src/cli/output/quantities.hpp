#pragma once

#include <string>
#include <string_view>

#include "plait/base/index.hpp"

/// Numbers as people read them: three digits and a decimal unit.
namespace plait::cli {

/// "512 MB", "1.23 GB", "17 B"
[[nodiscard]] std::string bytes_text(Index bytes);

/// "1.23 GB/s"; "-" where no time passed.
[[nodiscard]] std::string rate_text(Index bytes, double seconds);

/// "1 rank", "2 ranks"
[[nodiscard]] std::string counted(Index number, std::string_view what);

/// "12.3 s", "4.56 ms", "7 us"
[[nodiscard]] std::string seconds_text(double seconds);

}  // namespace plait::cli
