#include "bench/scalapack.hpp"

namespace plait::bench {

std::optional<Contender> scalapack(MPI_Comm, const MovedMatrix&) { return std::nullopt; }

}  // namespace plait::bench
