#pragma once

#include <string>
#include <vector>

namespace plait {

/// An environment variable.
struct Setting {
  std::string name;
  std::string value;
};

/// Restarts this process with these variables, if there are any: for libraries that read theirs before `main` alone.
/// It comes here a second time, where they are taken away, so that programs that it starts decide for themselves. Goes
/// on as it is where it can't be started. Before MPI, and before there are threads.
///
/// \param arguments  of the process, the last one null
void restart_with(const std::vector<Setting>& settings, char** arguments);

}  // namespace plait
