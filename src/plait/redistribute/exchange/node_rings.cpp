#include "plait/redistribute/exchange/node_rings.hpp"

#include <algorithm>

#include "plait/base/memory.hpp"
#include "plait/base/rounding.hpp"

namespace plait::redistribute {

namespace {

constexpr auto line = static_cast<Index>(Buffer::alignment);
// Below this, flags cost more than the data that they announce.
constexpr Index least_slot = 4096;
constexpr Index ring_bytes = Index{16} << 20;
constexpr Index least_cached_slot = Index{32} << 10;

Index bytes_of_flags(Index ranks, Index slots) { return ranks * slots * 2 * Index{sizeof(schedule::FlagCell)}; }

}  // namespace

Index NodeRings::longest_slot(mpi::Context& context, Index wanted, Index budget) {
  const Index ranks = context.topology().node().size();
  if (ranks == 1) return 0;
  const Index of_budget = budget / ((ranks - 1) * most_slots);
  const Index of_memory =
      (context.shared_staging().capacity() / ranks - bytes_of_flags(ranks, most_slots)) / (ranks * most_slots);
  // What all rings take together is to stay in the cache that cores share, or the next slot is not there any more.
  const Index of_cache = std::max(least_cached_slot, ring_bytes / (ranks * (ranks - 1) * most_slots));
  const Index longest = std::min({wanted, of_budget, of_memory, of_cache}) / line * line;
  return longest < least_slot ? 0 : longest;
}

NodeRings::NodeRings(mpi::Context& context, NodeTraffic traffic)
    : topology_(&context.topology()),
      slots_(std::clamp(traffic.most_chunks, Index{1}, most_slots)),
      slot_bytes_(rounded_up(traffic.longest_chunk, line)) {
  const Index ranks = topology_->node().size();
  flag_bytes_ = bytes_of_flags(ranks, slots_);
  memory_ = context.shared_staging().lease(flag_bytes_ + (ranks - 1) * slots_ * slot_bytes_, flag_bytes_);
  for (int sender = 0; sender < topology_->node().size(); ++sender) {
    flags_.emplace_back(memory_.segment(sender), ranks * slots_ * 2);
  }
}

std::byte* NodeRings::slot(int from, int to, Index chunk) const {
  const Index receiver = local(to) - (local(to) > local(from) ? 1 : 0);  // nobody sends to itself
  const Index offset = flag_bytes_ + (receiver * slots_ + chunk % slots_) * slot_bytes_;
  return memory_.segment(static_cast<int>(local(from))).data() + offset;
}

}  // namespace plait::redistribute
