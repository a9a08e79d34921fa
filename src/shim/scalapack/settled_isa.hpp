#pragma once

#include <string>

namespace plait::shim::scalapack {

/// Lets plait use the best instruction set where PLAIT_ISA can't be met: that is no reason to serve nothing.
/// \pre     no other thread runs, and plait has done nothing
/// \return  a line that says what is wrong with the variable; empty where nothing is
[[nodiscard]] std::string settled_isa();

}  // namespace plait::shim::scalapack
