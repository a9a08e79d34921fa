#include "shim/scalapack/program.hpp"

#include <dlfcn.h>
#include <link.h>

#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <string_view>
#include <thread>
#include <vector>

#include "plait/base/error.hpp"

#include "shim/own_rank.hpp"

namespace plait::shim::scalapack {

namespace {

/// The files of all libraries that the process has loaded, of plug-ins too; that of the program itself is empty.
std::vector<std::string> loaded_libraries() {
  std::vector<std::string> names;
  const auto add = [](dl_phdr_info* library, std::size_t /*size*/, void* to) {
    static_cast<std::vector<std::string>*>(to)->emplace_back(library->dlpi_name);
    return 0;
  };
  dl_iterate_phdr(add, &names);
  return names;
}

/// The address of a function in a loaded library or in those that it needs; null if there is none.
void* address_in(const std::string& library, const char* name) {
  void* const handle = dlopen(library.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  void* const address = dlsym(handle, name);
  dlclose(handle);  // it stays loaded
  return address;
}

bool is_real(void* address) {
  if (address == nullptr) return false;
  Dl_info own{};
  Dl_info other{};
  const bool is_own = dladdr(reinterpret_cast<void*>(&loaded_address), &own) != 0 && dladdr(address, &other) != 0 &&
                      own.dli_fbase == other.dli_fbase;
  return !is_own;
}

#ifdef OPEN_MPI
constexpr bool built_for_open_mpi = true;
#else
constexpr bool built_for_open_mpi = false;
#endif

/// Whether the MPI that a library is, or needs, is of the other family. MPICH and its kin are one, with one binary
/// interface.
bool has_other_mpi(const std::string& library) {
  // The one function that all MPIs understand alike, but for the length of the text, which is as long as any.
  using LibraryVersion = int(char*, int*);
  auto* const version = reinterpret_cast<LibraryVersion*>(address_in(library, "MPI_Get_library_version"));
  std::array<char, 8192> text{};
  int length = 0;
  if (version != nullptr) version(text.data(), &length);
  return version != nullptr && std::string_view(text.data()).starts_with("Open MPI") != built_for_open_mpi;
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

void expect_mpi_of_program() {
  const std::vector<std::string> libraries = loaded_libraries();
  if (std::none_of(libraries.begin(), libraries.end(), has_other_mpi)) return;
  if (const std::string_view rank = launched_rank(); rank.empty() || rank == "0") {
    constexpr std::array names{"MPICH", "Open MPI"};
    const char* const own = names[built_for_open_mpi ? 1 : 0];
    const char* const other = names[built_for_open_mpi ? 0 : 1];
    std::fprintf(stderr, "plait: this libplait_scalapack.so is for %s, the program is of %s: expected the one for %s\n",
                 own, other, other);
  } else {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));  // the first to end takes the others with it
  }
  std::_Exit(1);
}

}  // namespace plait::shim::scalapack
