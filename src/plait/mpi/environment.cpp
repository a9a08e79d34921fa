#include "plait/mpi/environment.hpp"

#include <dlfcn.h>
#include <link.h>

#include <mpi.h>

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "plait/base/error.hpp"
#include "plait/mpi/error.hpp"

namespace plait::mpi {

namespace {

struct Launcher {
  const char* size_variable;  // the environment variable in which it tells the number of processes
  const char* name;
};

// Slurm and others set PMI_SIZE as well, but then MPI itself knows of more than one rank and nobody asks.
constexpr std::array<Launcher, 2> launchers{{{"OMPI_COMM_WORLD_SIZE", "Open MPI"}, {"PMI_SIZE", "MPICH"}}};

void refuse_foreign_launcher(MPI_Comm all) {
  int size = 1;
  check(MPI_Comm_size(all, &size), "MPI_Comm_size");
  if (size != 1) return;
  for (const Launcher& launcher : launchers) {
    const char* value = std::getenv(launcher.size_variable);
    if (value == nullptr || std::atoi(value) <= 1) continue;
    throw MpiError("started as one of " + std::string(value) + " processes by the launcher of " + launcher.name +
                   ", but built with " + library_version() +
                   ", which sees a single process: use the mpiexec of that MPI, or plait built for the launcher's");
  }
}

/// Open MPI unloads its plug-ins while its threads may still be in their code: once in some 50,000 jobs, on a busy
/// machine, a rank that had done everything crashed so. Nothing that is loaded now is unloaded after this.
void keep_libraries_loaded() {
  std::vector<std::string> paths;  // opened only after the list's lock is released, which dlopen takes in another order
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* found) {
        static_cast<std::vector<std::string>*>(found)->emplace_back(info->dlpi_name);
        return 0;
      },
      &paths);
  for (const std::string& path : paths) {
    if (!path.empty()) dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  }
}

}  // namespace

Environment::Environment(int& argc, char**& argv, MPI_Comm all) {
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized == 0) {
    int provided = 0;
    check(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
    owns_ = true;
  }
  try {
    refuse_foreign_launcher(all);
  } catch (...) {
    if (owns_) MPI_Finalize();
    throw;
  }
}

Environment::~Environment() {
  if (!owns_) return;
  keep_libraries_loaded();
  MPI_Finalize();
}

bool is_finalized() noexcept {
  int finalized = 0;
  MPI_Finalized(&finalized);
  return finalized != 0;
}

std::string library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  const std::string full(text.data());
  if (const auto at = full.find("Open MPI v"); at != std::string::npos) {
    const auto begin = at + std::string("Open MPI v").size();
    return "Open MPI " + full.substr(begin, full.find_first_of(", \n", begin) - begin);
  }
  if (const auto at = full.find("MPICH Version:"); at != std::string::npos) {
    const auto begin = full.find_first_not_of(" \t", at + std::string("MPICH Version:").size());
    return "MPICH " + full.substr(begin, full.find_first_of(" \t\n", begin) - begin);
  }
  return full.substr(0, full.find('\n'));
}

}  // namespace plait::mpi
