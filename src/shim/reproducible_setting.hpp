#pragma once

#include <string>

namespace plait::shim {

/// What PLAIT_REPRODUCIBLE in the environment asks for: 1 is for sums that are the same to the last bit whatever the
/// order of the ranks; 0, empty or none is not.
struct ReproducibleSetting {
  bool is_wanted = false;
  std::string complaint;  ///< a line that says what is wrong with the variable; empty where nothing is
};
[[nodiscard]] ReproducibleSetting reproducible_setting();

}  // namespace plait::shim
