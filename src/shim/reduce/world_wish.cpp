#include "shim/reduce/world_wish.hpp"

#include <mpi.h>

#include <atomic>

#include "plait/base/backoff.hpp"
#include "plait/base/stopwatch.hpp"
#include "plait/mpi/returned_errors.hpp"

#include "shim/reduce/log.hpp"
#include "shim/reduce/presence.hpp"

namespace plait::shim::reduce {

namespace {

constexpr double longest_dissemination_seconds = 10;

/// Of all that begin one: it ends for nobody unless all have begun.
class Dissemination {
 public:
  Dissemination() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    void* highest = nullptr;
    int found = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&highest), &found);
    tag_ = found != 0 ? *static_cast<int*>(highest) : 32767;
  }

  [[nodiscard]] int rank() const noexcept { return rank_; }

  /// Whether it ended in time.
  [[nodiscard]] bool ends() {
    for (int distance = 1; distance < size_; distance *= 2) {
      MPI_Request received = MPI_REQUEST_NULL;
      MPI_Request sent = MPI_REQUEST_NULL;
      MPI_Irecv(nullptr, 0, MPI_BYTE, (rank_ + size_ - distance) % size_, tag_, MPI_COMM_WORLD, &received);
      MPI_Isend(nullptr, 0, MPI_BYTE, (rank_ + distance) % size_, tag_, MPI_COMM_WORLD, &sent);
      MPI_Request_free(&sent);  // it has no buffer that is to be kept
      if (!completes(received)) {
        MPI_Cancel(&received);
        MPI_Request_free(&received);
        return false;
      }
    }
    return true;
  }

 private:
  [[nodiscard]] bool completes(MPI_Request& request) const {
    Backoff backoff;
    int is_done = 0;
    while (MPI_Test(&request, &is_done, MPI_STATUS_IGNORE) == MPI_SUCCESS && is_done == 0) {
      if (waiting_.seconds() > longest_dissemination_seconds) return false;
      backoff.idle();
    }
    return is_done != 0;
  }

  int rank_ = 0;
  int size_ = 0;
  int tag_ = 0;
  Stopwatch waiting_;
};

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): of a process, as MPI is
std::atomic<WorldWish> wish = WorldWish::unknown;

}  // namespace

void learn_wish_of_world() noexcept {
  const mpi::ReturnedErrors returned(MPI_COMM_WORLD);
  Dissemination all;
  wish.store(all.ends() ? WorldWish::of_all : WorldWish::of_some, std::memory_order_relaxed);
  if (wish_of_world() == WorldWish::of_all) return;
  for (int lower = 0; lower < all.rank(); ++lower) {
    if (wants_reproducible(lower)) return;  // of the same node, and says it
  }
  Log::of_program().tell_at_odds(
      "PLAIT_REPRODUCIBLE=1, or libplait_reduce.so, is not on all ranks: sums are not reproducible");
}

WorldWish wish_of_world() noexcept { return wish.load(std::memory_order_relaxed); }

}  // namespace plait::shim::reduce
