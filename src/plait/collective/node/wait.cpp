#include "plait/collective/node/wait.hpp"

#include <sched.h>

#include <vector>

#include "plait/mpi/collectives.hpp"
#include "plait/mpi/message.hpp"

namespace plait::collective::node {

namespace {

constexpr int polls_on_own_core = 256;  // with a pause of the processor after each: some microseconds
constexpr int polls_on_shared_core = 16;

// Ranks may be bound to different cores, or all to the same ones.
int cores_of_node(const mpi::Communicator& node) {
  cpu_set_t own;
  CPU_ZERO(&own);
  sched_getaffinity(0, sizeof own, &own);
  const std::vector<cpu_set_t> all = mpi::all_gather(node, own);
  cpu_set_t together;
  CPU_ZERO(&together);
  for (const cpu_set_t& one : all) CPU_OR(&together, &together, &one);
  return CPU_COUNT(&together);
}

}  // namespace

Wait::Wait(mpi::Context& context)
    : context_(&context),
      crowded_(cores_of_node(context.topology().node()) < context.topology().node().size()),
      polls_(crowded_ ? polls_on_shared_core : polls_on_own_core) {}

void Wait::give_core() noexcept { sched_yield(); }

void Wait::idle(Backoff& backoff) const noexcept {
  mpi::progress(context_->comm());
  if (context_->activities().advance()) backoff.reset();
  if (crowded_) give_core();
  backoff.idle();
}

}  // namespace plait::collective::node
