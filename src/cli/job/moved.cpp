#include "cli/job/moved.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/output/quantities.hpp"

namespace plait::cli {

std::string moved_text(const Moved& moved) {
  std::string text = fmt::format("{} in {}", bytes_text(moved.bytes), seconds_text(moved.seconds));
  if (moved.bytes == 0 || moved.seconds <= 0) return text;
  return text + ", " + rate_text(moved.bytes, moved.seconds);
}

nlohmann::ordered_json json_of(const Moved& moved) {
  const double rate = moved.seconds > 0 ? static_cast<double>(moved.bytes) / moved.seconds : 0.0;
  return {{"bytes", moved.bytes}, {"seconds", moved.seconds}, {"bytes_per_second", rate}};
}

}  // namespace plait::cli
