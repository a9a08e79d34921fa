#include "plait/redistribute/exchange/node_rings.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "plait/base/memory.hpp"
#include "plait/base/rounding.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::redistribute {

namespace {

constexpr auto line = static_cast<Index>(Buffer::alignment);
// Below this, flags cost more than the data that they announce.
constexpr Index least_slot = 4096;
constexpr Index ring_bytes = Index{16} << 20;
constexpr Index least_cached_slot = Index{32} << 10;
constexpr Index wanted_flag_bytes = Index{64} << 10;  // of many rings, which take no more memory of a node than few

Index cells(Index ranks) { return ranks * RingMemory::most_slots * 2; }
Index bytes_of_block(Index ranks) { return cells(ranks) * Index{sizeof(schedule::FlagCell)}; }

}  // namespace

RingMemory::RingMemory(mpi::Context& context) : context_(&context), ranks_(context.topology().node().size()) {}

Index RingMemory::least_flag_bytes(Index ranks) {
  const Index block = bytes_of_block(ranks);
  return std::max(wanted_flag_bytes / block, Index{1}) * block;
}

void RingMemory::grow(Index pair_bytes) {
  const bool needs_slots = slots_ == nullptr || slots_->pair_bytes < pair_bytes;
  const bool needs_flags = free_blocks_.empty();
  if (!needs_slots && !needs_flags) return;
  const Index flag_bytes = needs_flags ? least_flag_bytes(ranks_) : 0;
  const Index blocks = flag_bytes / bytes_of_block(ranks_);
  std::unique_ptr<Region> region;
  mpi::with_memory_on_all_ranks(context_->topology().node(), [&] {
    region = std::make_unique<Region>();
    regions_.reserve(regions_.size() + 1);
    free_blocks_.reserve(at(blocks_ + blocks));
  });
  region->memory =
      context_->shared_staging().lease(flag_bytes + (needs_slots ? (ranks_ - 1) * pair_bytes : 0), flag_bytes);
  region->flag_bytes = flag_bytes;
  region->pair_bytes = (static_cast<Index>(region->memory.segment(0).size()) - flag_bytes) / (ranks_ - 1) / line * line;
  if (needs_slots) slots_ = region.get();
  for (Index block = 0; block < blocks; ++block) free_blocks_.push_back({region.get(), block * bytes_of_block(ranks_)});
  blocks_ += blocks;
  regions_.push_back(std::move(region));
}

RingMemory::Part::Part(std::shared_ptr<RingMemory> whole, Index pair_bytes) : whole_(std::move(whole)) {
  whole_->grow(pair_bytes);
  slots_ = whole_->slots_;
  block_ = whole_->free_blocks_.back();
  whole_->free_blocks_.pop_back();
}

// What lies in this rank's memory nobody looks at any more, once its own part of the last execution is over.
RingMemory::Part::~Part() {
  const std::span<std::byte> own = flags_of(whole_->context_->topology().node().rank());
  std::memset(own.data(), 0, own.size());
  whole_->free_blocks_.push_back(block_);  // where it was before
}

std::byte* RingMemory::Part::slots(Index sender, Index receiver) const {
  const Index number = receiver - (receiver > sender ? 1 : 0);  // nobody sends to itself
  return slots_->memory.segment(static_cast<int>(sender)).data() + slots_->flag_bytes + number * slots_->pair_bytes;
}

schedule::NodeFlags RingMemory::Part::flags(Index sender) const { return {flags_of(sender), cells(whole_->ranks_)}; }

std::span<std::byte> RingMemory::Part::flags_of(Index sender) const {
  return block_.region->memory.segment(static_cast<int>(sender))
      .subspan(at(block_.offset), at(bytes_of_block(whole_->ranks_)));
}

Index NodeRings::longest_slot(mpi::Context& context, Index wanted, Index budget) {
  const Index ranks = context.topology().node().size();
  if (ranks == 1) return 0;
  constexpr Index most_slots = RingMemory::most_slots;
  const Index of_budget = budget / ((ranks - 1) * most_slots);
  const Index of_memory =
      (context.shared_staging().capacity() / ranks - RingMemory::least_flag_bytes(ranks)) / (ranks * most_slots);
  // What all rings take together is to stay in the cache that cores share, or the next slot is not there any more.
  const Index of_cache = std::max(least_cached_slot, ring_bytes / (ranks * (ranks - 1) * most_slots));
  const Index longest = std::min({wanted, of_budget, of_memory, of_cache}) / line * line;
  return longest < least_slot ? 0 : longest;
}

NodeRings::NodeRings(mpi::Context& context, NodeTraffic traffic, std::shared_ptr<RingMemory> memory)
    : topology_(&context.topology()),
      slots_(std::clamp(traffic.most_chunks, Index{1}, RingMemory::most_slots)),
      slot_bytes_(rounded_up(traffic.longest_chunk, line)),
      memory_(std::move(memory), slots_ * slot_bytes_) {}

std::byte* NodeRings::slot(int from, int to, Index chunk) const {
  return memory_.slots(local(from), local(to)) + chunk % slots_ * slot_bytes_;
}

}  // namespace plait::redistribute
