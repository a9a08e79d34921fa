#pragma once

#include <omp.h>

#include "plait/mpi/node/topology.hpp"

namespace plait::mpi {

/// While one lives, OpenMP's parallel regions have the topology's `threads()` in this thread.
class NodeThreads {
 public:
  explicit NodeThreads(const NodeTopology& topology) { omp_set_num_threads(topology.threads()); }
  NodeThreads(const NodeThreads&) = delete;
  NodeThreads& operator=(const NodeThreads&) = delete;
  ~NodeThreads() { omp_set_num_threads(before_); }

 private:
  int before_ = omp_get_max_threads();
};

}  // namespace plait::mpi
