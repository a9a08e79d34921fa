#pragma once

#include <string>

/// What the program that is served has loaded.
namespace plait::shim::scalapack {

/// The address of a function of the program's ScaLAPACK or BLACS: the first one that is not this library's.
/// \throws plait::Error  naming it, if the program has none
[[nodiscard]] void* loaded_address(const std::string& name);

template <class F>
[[nodiscard]] F* loaded(const std::string& name) {
  return reinterpret_cast<F*>(loaded_address(name));
}

/// Ends a program of another MPI than the one that this library was built for: now that both are loaded, some of its
/// calls would go to one of them and some to the other. Rank 0 says so in a line.
void expect_mpi_of_program();

}  // namespace plait::shim::scalapack
