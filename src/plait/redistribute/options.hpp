#pragma once

#include <string>

#include "plait/base/index.hpp"

namespace plait::redistribute {

/// How data goes between ranks of one node.
enum class WithinNode : unsigned char {
  messages,       ///< as between nodes
  shared_memory,  ///< through memory that the ranks share, where the node has enough of it; else as messages
};

struct Options {
  /// Staging memory in bytes that a rank may use beyond source and target; the least of all ranks counts. From 4 KiB
  /// on.
  Index memory_budget = Index{32} << 20;
  /// Most bytes in one message; the least of all ranks counts, and never more than 64 MiB or a quarter of the budget.
  /// Messages between nodes are shorter: `mpi::network_message`.
  Index chunk_bytes = Index{1} << 20;
  /// Messages, if any rank wants them.
  WithinNode within_node = WithinNode::shared_memory;
  /// Under which name the context counts what is moved.
  std::string label = "redistribute";
};

}  // namespace plait::redistribute
