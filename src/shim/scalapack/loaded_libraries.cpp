#include "shim/scalapack/loaded_libraries.hpp"

#include <dlfcn.h>
#include <link.h>

namespace plait::shim::scalapack {

std::vector<std::string> loaded_libraries() {
  std::vector<std::string> names;
  const auto add = [](dl_phdr_info* library, std::size_t /*size*/, void* to) {
    static_cast<std::vector<std::string>*>(to)->emplace_back(library->dlpi_name);
    return 0;
  };
  dl_iterate_phdr(add, &names);
  return names;
}

void* address_in(const std::string& library, const char* name) {
  void* const handle = dlopen(library.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  void* const address = dlsym(handle, name);
  dlclose(handle);  // it stays loaded
  return address;
}

}  // namespace plait::shim::scalapack
