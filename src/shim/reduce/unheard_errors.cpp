#include "shim/reduce/unheard_errors.hpp"

#include <mpi.h>

#include <mutex>
#include <optional>

#include "plait/mpi/returned_errors.hpp"

namespace plait::shim::reduce {

namespace {

// Two threads that each put back what they found would leave what one of them had set.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): of a process, as MPI's communicators are
std::mutex mutex;
int living = 0;
std::optional<mpi::ReturnedErrors> of_world;
std::optional<mpi::ReturnedErrors> of_self;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

}  // namespace

UnheardErrors::UnheardErrors() noexcept {
  const std::scoped_lock lock(mutex);
  if (living++ > 0) return;
  of_world.emplace(MPI_COMM_WORLD);
  of_self.emplace(MPI_COMM_SELF);
}

UnheardErrors::~UnheardErrors() {
  const std::scoped_lock lock(mutex);
  if (--living > 0) return;
  of_self.reset();
  of_world.reset();
}

}  // namespace plait::shim::reduce
