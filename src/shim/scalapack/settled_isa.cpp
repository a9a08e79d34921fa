#include "shim/scalapack/settled_isa.hpp"

#include <cstdlib>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/simd/isa.hpp"

#include "shim/summary.hpp"

namespace plait::shim::scalapack {

// Plait reads the variable until it finds it valid, once, so it is hidden for that long. It stays for other processes:
// the launcher may have this library loaded, too, and hands it on to those that will tell.
std::string settled_isa() {
  try {
    static_cast<void>(simd::selected_isa());
    return "";
  } catch (const Error& error) {
    constexpr const char* variable = "PLAIT_ISA";
    const std::string setting(environment(variable));
    ::unsetenv(variable);
    const simd::Isa best = simd::selected_isa();
    ::setenv(variable, setting.c_str(), 1);
    return fmt::format("plait: warning: {}; {} is used\n", error.what(), simd::name(best));
  }
}

}  // namespace plait::shim::scalapack
