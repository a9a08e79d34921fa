#include "shim/own_rank.hpp"

#include <mpi.h>

#include "shim/settings.hpp"

namespace plait::shim {

std::string_view launched_rank() {
  for (const char* const variable : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"}) {
    if (const std::string_view rank = environment(variable); !rank.empty()) return rank;
  }
  return "";
}

void OwnRank::learn() {
  if (rank_ < 0) MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
}

bool OwnRank::is_zero() const {
  if (::getpid() != process_) return false;
  int uses_mpi = 0;
  MPI_Initialized(&uses_mpi);
  if (rank_ >= 0 || uses_mpi == 0) return rank_ == 0;
  return launched_rank() == "0";
}

}  // namespace plait::shim
