#include "shim/scalapack/real_scalapack.hpp"

#include <dlfcn.h>

#include "plait/base/error.hpp"

namespace plait::shim::scalapack {

namespace {

bool of_this_library(void* address) {
  Dl_info own{};
  Dl_info other{};
  return dladdr(reinterpret_cast<void*>(&loaded_address), &own) != 0 && dladdr(address, &other) != 0 &&
         own.dli_fbase == other.dli_fbase;
}

}  // namespace

// Behind this library where it was preloaded or linked before ScaLAPACK, before it otherwise.
void* loaded_address(const std::string& name) {
  for (void* const where : {RTLD_NEXT, RTLD_DEFAULT}) {
    void* const address = dlsym(where, name.c_str());
    if (address != nullptr && !of_this_library(address)) return address;
  }
  throw Error(ErrorKind::other, name + ": the program has loaded no ScaLAPACK that has it");
}

}  // namespace plait::shim::scalapack
