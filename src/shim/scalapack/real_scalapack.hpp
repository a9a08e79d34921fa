#pragma once

#include <string>

namespace plait::shim::scalapack {

/// The address of a function of the program's ScaLAPACK or BLACS: the first one that is not this library's.
/// \throws plait::Error  naming it, if the program has none
[[nodiscard]] void* loaded_address(const std::string& name);

template <class F>
[[nodiscard]] F* loaded(const std::string& name) {
  return reinterpret_cast<F*>(loaded_address(name));
}

}  // namespace plait::shim::scalapack
