// A Fortran program of the other MPI loads that MPI's Fortran layer, which calls the C layer by names that the MPI has
// too that this library brings along, and may be found first: the program can't work. It is ended before it begins,
// with a word rather than without one.
#include <link.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "shim/own_rank.hpp"

namespace {

#if defined(OPEN_MPI)
constexpr std::string_view other = "MPICH", its_fortran_layer = "libmpichfort.so";
#else
constexpr std::string_view other = "Open MPI", its_fortran_layer = "libmpi_mpifh.so";
#endif

int is_fortran_of_other_mpi(dl_phdr_info* library, std::size_t /*size*/, void* /*data*/) {
  const std::string_view path = library->dlpi_name;
  return path.substr(path.rfind('/') + 1).starts_with(its_fortran_layer) ? 1 : 0;  // npos + 1 is 0
}

[[gnu::constructor]] void refuse_fortran_of_other_mpi() {
  if (dl_iterate_phdr(is_fortran_of_other_mpi, nullptr) == 0) return;
  const std::string_view rank = plait::shim::launched_rank();
  if (rank.empty() || rank == "0") {
    std::fprintf(
        stderr,
        "plait: error: this is a Fortran program of %s, but libplait_reduce.so was built with " PLAIT_MPI_FAMILY
        ": run it without plait, or with plait built for its MPI\n",
        other.data());
  }
  std::_Exit(EXIT_FAILURE);
}

}  // namespace
