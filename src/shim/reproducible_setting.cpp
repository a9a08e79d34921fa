#include "shim/reproducible_setting.hpp"

#include <string_view>

#include <fmt/format.h>

#include "shim/summary.hpp"

namespace plait::shim {

ReproducibleSetting reproducible_setting() {
  constexpr const char* variable = "PLAIT_REPRODUCIBLE";
  const std::string_view setting = environment(variable);
  if (setting == "1") return {true, ""};
  if (setting.empty() || setting == "0") return {};
  return {false, fmt::format("plait: warning: environment variable {} is '{}', expected 0, 1 or nothing; sums are not "
                             "made reproducible\n",
                             variable, setting)};
}

}  // namespace plait::shim
