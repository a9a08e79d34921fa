#include "shim/scalapack/program_mpi.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "shim/own_rank.hpp"
#include "shim/scalapack/loaded_libraries.hpp"

namespace plait::shim::scalapack {

namespace {

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
