#include "bench/peers/scalapack.hpp"

namespace plait::bench {

std::optional<Contender> scalapack(MPI_Comm, const MovedMatrix&) { return std::nullopt; }
std::optional<Contender> scalapack_product(MPI_Comm, const layout::DistributedMatrix<double>&,
                                           const layout::DistributedMatrix<double>&,
                                           layout::DistributedMatrix<double>&) {
  return std::nullopt;
}

}  // namespace plait::bench
