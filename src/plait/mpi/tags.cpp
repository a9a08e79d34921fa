#include "plait/mpi/tags.hpp"

#include <algorithm>
#include <span>
#include <string>

#include "plait/base/contract.hpp"
#include "plait/base/error.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::mpi {

// One after the other, so that ranks agree in whatever order they give tags back. Only when the highest was reached,
// the lowest gap that is wide enough: then they have to give back in the same order, too.
int TagPool::take(int count) {
  PLAIT_ASSERT(count >= 1, "tags are reserved to be used");
  if (count <= highest_ - next_ + 1) {
    used_.push_back({static_cast<int>(next_), count});
    next_ += count;
    return used_.back().first;
  }
  Index first = first_of_schedules;  // may come to lie one above the highest tag, which no int may hold
  auto next = used_.begin();
  while (next != used_.end() && next->first - first < count) {
    first = Index{next->first} + next->count;
    ++next;
  }
  if (count > highest_ - first + 1) {
    throw MpiError("no " + std::to_string(count) + " message tags left of " + std::to_string(highest_) +
                   ": too many schedules with too many strands exist at once");
  }
  used_.insert(next, {static_cast<int>(first), count});
  return static_cast<int>(first);
}

void TagPool::give_back(int first) noexcept { used_.erase(std::ranges::find(used_, first, &Range::first)); }

void TagPool::catch_up(const Communicator& comm) {
  if (comm.size() > 1) all_reduce(comm, std::span<Index>(&next_, 1), Operation::maximum());
}

}  // namespace plait::mpi
