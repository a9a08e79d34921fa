#include "cli/exec/launch.hpp"

#include <mpi.h>

#include <array>
#include <cstdlib>

namespace plait::cli {

namespace {

struct Launcher {
  const char* rank;
  const char* size;
  bool is_own;
};

#ifdef OPEN_MPI
constexpr bool is_open_mpi = true;
#else
constexpr bool is_open_mpi = false;
#endif

constexpr std::array<Launcher, 3> launchers{{{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", is_open_mpi},
                                             {"PMI_RANK", "PMI_SIZE", !is_open_mpi},
                                             {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", true}}};

}  // namespace

Launch launch_from_environment() {
  Launch launch;
  for (const Launcher& launcher : launchers) {
    const char* rank = std::getenv(launcher.rank);
    const char* size = std::getenv(launcher.size);
    if (rank == nullptr || size == nullptr) continue;
    launch = {std::atoi(rank), std::atoi(size), launcher.is_own};
    if (launcher.is_own) break;
  }
  return launch;
}

}  // namespace plait::cli
