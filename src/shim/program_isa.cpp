#include "shim/program_isa.hpp"

#include <cstdio>

#include <fmt/format.h>

#include "plait/base/error.hpp"

namespace plait::shim {

simd::Isa isa_of_program(bool tells) noexcept {
  try {
    return simd::selected_isa();
  } catch (const Error& error) {
    const simd::Isa best = simd::best_isa();
    if (tells) std::fputs(fmt::format("plait: warning: {}; {} is used\n", error.what(), name(best)).c_str(), stderr);
    return best;
  }
}

}  // namespace plait::shim
