#include "plait/schedule/flags.hpp"

#include <new>

#include "plait/base/contract.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::schedule {

NodeFlags::NodeFlags(mpi::Context& context, Index count)
    : window_(context.topology().node(), context.topology().node().rank() == 0 ? count * Index{sizeof(FlagCell)} : 0),
      count_(count) {
  if (context.topology().node().rank() == 0) {
    for (Index flag = 0; flag < count; ++flag) new (&cell(flag)) FlagCell{};
  }
  mpi::barrier(context.topology().node());
}

FlagCell& NodeFlags::cell(Index flag) const {
  PLAIT_ASSERT(flag >= 0 && flag < count_, "the flag exists");
  return reinterpret_cast<FlagCell*>(window_.segment(0).data())[flag];
}

}  // namespace plait::schedule
