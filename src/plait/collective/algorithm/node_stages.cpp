#include "plait/collective/algorithm/node_stages.hpp"

#include <algorithm>

#include "plait/base/memory.hpp"
#include "plait/base/rounding.hpp"
#include "plait/collective/arguments.hpp"

namespace plait::collective {

namespace {

constexpr auto line = static_cast<Index>(Buffer::alignment);

}  // namespace

// A slot is used again by a chunk that sets out two stages later, when the flags about the earlier one are behind.
NodeStages::NodeStages(const mpi::Context& context, const Stream& stream)
    : topology_(&context.topology()),
      slots_(std::max<Index>(most_within(stream, 1), 1)),
      slot_bytes_(rounded_up(stream.longest_bytes(), line)),
      flag_bytes_(2 * slots_ * Index{sizeof(schedule::FlagCell)}) {
  flags_.reserve(static_cast<std::size_t>(topology_->node().size()));
}

void NodeStages::share_memory(mpi::Context& context) {
  memory_ = context.shared_staging().lease(flag_bytes_ + slots_ * slot_bytes_, flag_bytes_);
  for (int rank = 0; rank < topology_->node().size(); ++rank)
    flags_.emplace_back(memory_.segment(rank).first(static_cast<std::size_t>(flag_bytes_)), 2 * slots_);
}

std::byte* NodeStages::slot(int rank, Index number) const {
  return memory_.segment(topology_->node_rank_of(rank)).data() + flag_bytes_ + number * slot_bytes_;
}

}  // namespace plait::collective
