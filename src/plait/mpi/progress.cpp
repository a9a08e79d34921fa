#include "plait/mpi/progress.hpp"

namespace plait::mpi {

namespace {

constexpr int unsent_tag = 15;  // of plait's control messages, and none has it

}  // namespace

// A probe that finds something need not look at the network, so it is for what is never sent. That it failed, the call
// of MPI to which the failure belongs will tell.
void progress(const Communicator& comm) noexcept {
  int found = 0;
  MPI_Iprobe(comm.rank(), unsent_tag, comm.handle(), &found, MPI_STATUS_IGNORE);
}

}  // namespace plait::mpi
