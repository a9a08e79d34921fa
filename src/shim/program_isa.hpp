#pragma once

#include "plait/simd/isa.hpp"

namespace plait::shim {

/// What `simd::selected_isa` says. Where it refuses, since PLAIT_ISA can't be met, the best one: that is no reason to
/// end a program that knows nothing of plait.
/// \param tells  whether this process is the one that then says so on stderr
[[nodiscard]] simd::Isa isa_of_program(bool tells) noexcept;

}  // namespace plait::shim
