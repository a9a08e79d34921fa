#include "cli/launch.hpp"

#include <array>
#include <cstdlib>

namespace plait::cli {

namespace {

struct Variables {
  const char* rank;
  const char* size;
};

constexpr std::array<Variables, 3> launchers{{{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                              {"PMI_RANK", "PMI_SIZE"},
                                              {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}}};

}  // namespace

Launch launch_from_environment() {
  for (const Variables& variables : launchers) {
    const char* rank = std::getenv(variables.rank);
    const char* size = std::getenv(variables.size);
    if (rank != nullptr && size != nullptr) return {std::atoi(rank), std::atoi(size)};
  }
  return {};
}

}  // namespace plait::cli
