#pragma once

#include <sched.h>

#include <optional>

#include "plait/mpi/context.hpp"

namespace plait::dense {

/// While one lives, BLAS works with at most so many threads; then with as many as before. BLAS libraries start as many
/// threads as there are cores, in each rank: with several ranks on a node they would be in each other's way. Works for
/// OpenBLAS, BLIS and Intel's MKL as shared libraries, and does nothing with others.
///
/// A user who says how many they want (OPENBLAS_NUM_THREADS, BLIS_NUM_THREADS, MKL_NUM_THREADS or OMP_NUM_THREADS) is
/// not overruled. The setting is the process's, so no two threads of it have one of these at a time.
class BlasThreads {
 public:
  /// \pre  most >= 1
  explicit BlasThreads(int most);
  BlasThreads(const BlasThreads&) = delete;
  BlasThreads& operator=(const BlasThreads&) = delete;
  ~BlasThreads();

 private:
  int before_ = 0;  // 0: nothing was changed
};

/// While one lives, BLAS of this thread works on the cores of all ranks of the node, even where the launcher bound each
/// to some of them: for a rank that works alone, as the others sleep (`mpi::agreed_by`).
class BlasOnNode {
 public:
  /// \param works  whether this is the rank that does, with as many threads at most
  BlasOnNode(const mpi::Context& context, bool works, int most);
  BlasOnNode(const BlasOnNode&) = delete;
  BlasOnNode& operator=(const BlasOnNode&) = delete;
  ~BlasOnNode();

 private:
  std::optional<cpu_set_t> own_;  // what the thread was bound to, if that was changed
  int before_ = 0;                // threads, if that was changed
};

}  // namespace plait::dense
