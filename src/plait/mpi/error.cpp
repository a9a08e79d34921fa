#include "plait/mpi/error.hpp"

#include <mpi.h>

#include <array>
#include <string>

#include "plait/base/error.hpp"

namespace plait::mpi {

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw MpiError(std::string(call) + " failed: " + std::string(text.data(), static_cast<std::size_t>(length)));
}

}  // namespace plait::mpi
