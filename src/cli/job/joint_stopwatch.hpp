#pragma once

#include "plait/base/stopwatch.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/context.hpp"

namespace plait::cli {

/// Seconds from when all ranks have come here until all have come to `seconds`. Collective over the context.
class JointStopwatch {
 public:
  explicit JointStopwatch(const mpi::Context& context) : context_(context) {
    mpi::barrier(context.comm());
    own_.restart();
  }
  [[nodiscard]] double seconds() const {
    return mpi::all_reduce(context_.comm(), own_.seconds(), mpi::Operation::maximum());
  }

 private:
  const mpi::Context& context_;
  Stopwatch own_;
};

}  // namespace plait::cli
