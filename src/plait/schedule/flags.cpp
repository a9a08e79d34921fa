#include "plait/schedule/flags.hpp"

#include <new>

#include "plait/base/contract.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::schedule {

NodeFlags::NodeFlags(mpi::Context& context, Index count)
    : window_(context.topology().node(), context.topology().node().rank() == 0 ? count * Index{sizeof(FlagCell)} : 0),
      cells_(reinterpret_cast<FlagCell*>(window_.segment(0).data())),
      count_(count) {
  if (context.topology().node().rank() == 0) {
    for (Index flag = 0; flag < count; ++flag) new (&cell(flag)) FlagCell{};
  }
  mpi::barrier(context.topology().node());
}

NodeFlags::NodeFlags(std::span<std::byte> zeroed, Index count)
    : cells_(reinterpret_cast<FlagCell*>(zeroed.data())), count_(count) {
  PLAIT_ASSERT(static_cast<Index>(zeroed.size()) >= count * Index{sizeof(FlagCell)}, "the memory holds all flags");
}

FlagCell& NodeFlags::cell(Index flag) const {
  PLAIT_ASSERT(flag >= 0 && flag < count_, "the flag exists");
  return cells_[flag];
}

}  // namespace plait::schedule
