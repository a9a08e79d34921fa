#include "shim/summary.hpp"

#include <cstdlib>

#include <fmt/format.h>

#include "plait/base/log_setting.hpp"

namespace plait::shim {

std::string_view environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string complaint_about_log() {
  const std::string complaint = log_setting().complaint;
  return complaint.empty() ? "" : fmt::format("plait: warning: {}\n", complaint);
}

std::string calls_text(Index number) { return fmt::format("{} call{}", number, number == 1 ? "" : "s"); }

std::string served_text(std::string_view what, std::size_t width, Index calls, Index bytes) {
  return fmt::format("  {:<{}} {:>16}  {:10.3f} MB", what, width, calls_text(calls), static_cast<double>(bytes) / 1e6);
}

}  // namespace plait::shim
