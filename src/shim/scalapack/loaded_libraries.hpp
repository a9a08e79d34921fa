#pragma once

#include <string>
#include <vector>

namespace plait::shim::scalapack {

/// The files of all libraries that the process has loaded, of plug-ins too; that of the program itself is empty.
[[nodiscard]] std::vector<std::string> loaded_libraries();

/// The address of a function in a loaded library or in those that it needs; null if there is none.
[[nodiscard]] void* address_in(const std::string& library, const char* name);

}  // namespace plait::shim::scalapack
