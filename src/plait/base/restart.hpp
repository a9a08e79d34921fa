#pragma once

#include <string>
#include <utility>
#include <vector>

namespace plait {

/// Environment variables of libraries that read them before `main` alone, by name and value.
using EarlySettings = std::vector<std::pair<std::string, std::string>>;

/// Starts this process anew with these variables, if there are any; it comes here a second time, where they are taken
/// away, so that programs that it starts decide for themselves. Goes on as it is where it can't be started. Before MPI,
/// and before there are threads.
///
/// \param arguments  of the process, the last one null
void restart_with(const EarlySettings& settings, char** arguments);

}  // namespace plait
