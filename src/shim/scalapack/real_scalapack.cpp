#include "shim/scalapack/real_scalapack.hpp"

#include <dlfcn.h>

#include "plait/base/error.hpp"

#include "shim/scalapack/loaded_libraries.hpp"

namespace plait::shim::scalapack {

namespace {

bool is_real(void* address) {
  if (address == nullptr) return false;
  Dl_info own{};
  Dl_info other{};
  const bool is_own = dladdr(reinterpret_cast<void*>(&loaded_address), &own) != 0 && dladdr(address, &other) != 0 &&
                      own.dli_fbase == other.dli_fbase;
  return !is_own;
}

}  // namespace

// Behind this library where it was preloaded or linked before ScaLAPACK, before it otherwise; or seen by a plug-in
// only, as extension modules of Python are, which has taken this library's functions for its own.
void* loaded_address(const std::string& name) {
  for (void* const where : {RTLD_NEXT, RTLD_DEFAULT}) {
    void* const address = dlsym(where, name.c_str());
    if (is_real(address)) return address;
  }
  for (const std::string& library : loaded_libraries()) {
    void* const address = address_in(library, name.c_str());
    if (is_real(address)) return address;
  }
  throw Error(ErrorKind::other, name + ": the program has loaded no ScaLAPACK that has it");
}

}  // namespace plait::shim::scalapack
