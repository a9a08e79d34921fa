#include "shim/settings.hpp"

#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

#include "plait/base/error.hpp"
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

ReproducibleSetting reproducible_setting() {
  constexpr const char* variable = "PLAIT_REPRODUCIBLE";
  const std::string_view setting = environment(variable);
  if (setting == "1") return {true, ""};
  if (setting.empty() || setting == "0") return {};
  return {false, fmt::format("plait: warning: environment variable {} is '{}', expected 0, 1 or nothing; sums are not "
                             "made reproducible\n",
                             variable, setting)};
}

simd::Isa isa_of_program(bool tells) noexcept {
  try {
    return simd::selected_isa();
  } catch (const Error& error) {
    const simd::Isa best = simd::best_isa();
    if (tells) std::fputs(fmt::format("plait: warning: {}; {} is used\n", error.what(), name(best)).c_str(), stderr);
    return best;
  }
}

std::string calls_text(Index number) { return fmt::format("{} call{}", number, number == 1 ? "" : "s"); }

std::string served_text(std::string_view what, std::size_t width, Index calls, Index bytes) {
  return fmt::format("  {:<{}} {:>16}  {:10.3f} MB", what, width, calls_text(calls), static_cast<double>(bytes) / 1e6);
}

}  // namespace plait::shim
