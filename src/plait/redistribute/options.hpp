#pragma once

#include <string>

#include "plait/base/index.hpp"

namespace plait::redistribute {

struct Options {
  /// Staging memory in bytes that a rank may use beyond source and target; the least of all ranks counts. From 4 KiB
  /// on.
  Index memory_budget = Index{32} << 20;
  /// Most bytes in one message; the least of all ranks counts, and never more than 64 MiB or a quarter of the budget.
  /// Messages between nodes are shorter: `mpi::network_message`.
  Index chunk_bytes = Index{1} << 20;
  /// Under which name the context counts what is moved.
  std::string label = "redistribute";
};

}  // namespace plait::redistribute
