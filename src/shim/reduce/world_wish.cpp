#include "shim/reduce/world_wish.hpp"

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <limits>
#include <optional>

#include "plait/base/backoff.hpp"
#include "plait/base/index.hpp"
#include "plait/base/stopwatch.hpp"
#include "plait/mpi/error.hpp"

#include "shim/reduce/log.hpp"
#include "shim/reduce/presence.hpp"

namespace plait::shim::reduce {

namespace {

constexpr double longest_wait_for_world = 10;  // seconds

constexpr char no = 0, yes = 1;

int highest_tag() {
  void* highest = nullptr;
  int found = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&highest), &found);
  return found != 0 ? *static_cast<int*>(highest) : 32767;
}

/// Answers of all ranks, passed on to those at distances 1, 2, 4...: who has heard from all of its own has heard of all
/// ranks, since each of these passes on what it has heard before.
class Dissemination {
 public:
  explicit Dissemination(int tag) : tag_(tag) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    received_.fill(MPI_REQUEST_NULL);
    for (std::size_t round = 0; distance(round) < size_; ++round) {
      const auto from = static_cast<int>((rank_ + size_ - distance(round)) % size_);
      MPI_Irecv(&heard_[round], 1, MPI_BYTE, from, tag_, MPI_COMM_WORLD, &received_[round]);
    }
  }

  /// Whether all say yes, as this rank does; nothing where that did not turn out in time.
  [[nodiscard]] std::optional<bool> do_all_agree(double longest_seconds) {
    bool all = true;
    for (std::size_t round = 0; distance(round) < size_; ++round) {
      tell(round, all);
      if (!hears(round, longest_seconds)) return std::nullopt;
      all = all && heard_[round] == yes;
    }
    return all;
  }

  /// Says no, and waits for nobody.
  void refuse() {
    for (std::size_t round = 0; distance(round) < size_; ++round) tell(round, false);
  }

  /// Receives no more. Until then it takes what comes too late, which else a receive of the program's might.
  void stop() {
    for (MPI_Request& request : received_) {
      if (request == MPI_REQUEST_NULL) continue;
      MPI_Cancel(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  }

 private:
  static constexpr Index distance(std::size_t round) { return Index{1} << round; }

  void tell(std::size_t round, bool answer) {
    MPI_Request sent = MPI_REQUEST_NULL;
    const auto to = static_cast<int>((rank_ + distance(round)) % size_);
    MPI_Isend(answer ? &yes : &no, 1, MPI_BYTE, to, tag_, MPI_COMM_WORLD, &sent);
    MPI_Request_free(&sent);  // what it sends stays where it is
  }

  [[nodiscard]] bool hears(std::size_t round, double longest_seconds) {
    Backoff backoff;
    int is_done = 0;
    while (MPI_Test(&received_[round], &is_done, MPI_STATUS_IGNORE) == MPI_SUCCESS && is_done == 0) {
      if (waiting_.seconds() > longest_seconds) return false;
      backoff.idle();
    }
    return is_done != 0;
  }

  int rank_ = 0;
  int size_ = 0;
  int tag_;
  std::array<MPI_Request, 31> received_;  // as many rounds as an int of ranks may take
  std::array<char, 31> heard_{};
  Stopwatch waiting_;
};

struct Inquiry {
  Dissemination beginnings{highest_tag()};
  Dissemination outcomes{highest_tag() - 1};
};

// Nobody hears of all others' beginnings unless all have begun. But some may while others give up, as one of all came
// too late: so those tell the former, who can wait for it without end, since all have begun.
bool do_all_wish(Inquiry& inquiry) {
  if (inquiry.beginnings.do_all_agree(longest_wait_for_world)) {
    return inquiry.outcomes.do_all_agree(std::numeric_limits<double>::infinity()).value_or(false);
  }
  inquiry.outcomes.refuse();
  return false;
}

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): of a process, as MPI is
std::atomic<WorldWish> wish = WorldWish::unknown;
std::optional<Inquiry> inquiry_of_process;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

}  // namespace

void learn_wish_of_world() noexcept {
  const mpi::ReturnedErrors returned(MPI_COMM_WORLD);
  Inquiry& inquiry = inquiry_of_process.emplace();
  wish.store(do_all_wish(inquiry) ? WorldWish::of_all : WorldWish::of_some, std::memory_order_relaxed);
  if (wish_of_world() == WorldWish::of_all) return;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int lower = 0; lower < rank; ++lower) {
    if (wants_reproducible(lower)) return;  // of the same node, and says it
  }
  Log::of_program().tell_at_odds(
      "PLAIT_REPRODUCIBLE=1, or libplait_reduce.so, was not on all ranks in 10 s: sums are not reproducible");
}

void stop_learning_wish() noexcept {
  if (!inquiry_of_process) return;
  inquiry_of_process->beginnings.stop();
  inquiry_of_process->outcomes.stop();
  inquiry_of_process.reset();
}

WorldWish wish_of_world() noexcept { return wish.load(std::memory_order_relaxed); }

}  // namespace plait::shim::reduce
