#include "plait/collective/node/wait.hpp"

#include <sched.h>

#include "plait/mpi/message.hpp"

namespace plait::collective::node {

namespace {

constexpr int polls_on_own_core = 256;  // with a pause of the processor after each: some microseconds
constexpr int polls_on_shared_core = 16;

}  // namespace

Wait::Wait(mpi::Context& context)
    : context_(&context),
      crowded_(context.topology().is_crowded()),
      polls_(crowded_ ? polls_on_shared_core : polls_on_own_core) {}

void Wait::give_core() noexcept { sched_yield(); }

void Wait::idle(Backoff& backoff) const noexcept {
  mpi::progress(context_->comm());
  if (context_->activities().advance()) backoff.reset();
  if (crowded_) give_core();
  backoff.idle();
}

}  // namespace plait::collective::node
