#pragma once

#include "plait/base/stopwatch.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/context.hpp"

namespace plait::cli {

/// How long all ranks take to do `work`, each its own: from when the first begins to when the last is done, in seconds,
/// the same on every rank. Some microseconds too long rather than too short: where ranks take turns on a core, one that
/// looks at its own time only would not see that it waited for the others. Collective over `context`.
template <class Work>
[[nodiscard]] double seconds_together(const mpi::Context& context, const Work& work) {
  mpi::barrier(context.comm());
  const Stopwatch watch;
  mpi::barrier(context.comm());  // all watches run
  work();
  return mpi::all_reduce(context.comm(), watch.seconds(), mpi::Operation::maximum());
}

}  // namespace plait::cli
