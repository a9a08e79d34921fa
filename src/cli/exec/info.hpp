#pragma once

#include <string>

#include "plait/mpi/context.hpp"

namespace CLI {
class App;
}

namespace plait::cli {

/// The command line of `plait info`.
struct InfoOptions {
  bool json = false;
  std::string machine;  // empty: as PLAIT_MACHINE says
};

void add_info(CLI::App& program, InfoOptions& options);

/// `plait info`. Collective over `context`; rank 0 prints what it knows of itself and of its node.
void run_info(mpi::Context& context, const InfoOptions& options);

}  // namespace plait::cli
