#include "bench/simulated/measure.hpp"

#include <mpi.h>

#include <cstddef>

#include <simgrid/actor.h>

#include "plait/mpi/collectives.hpp"

// What SimGrid copies messages with unless it is told otherwise; none of its headers has it.
void smpi_comm_copy_buffer_callback(simgrid::kernel::activity::CommImpl* message, void* data, std::size_t bytes);

namespace plait::bench {

namespace {

constexpr std::size_t longest_copied = 4095;  // longer ones end when they have come: see SETTINGS in simulated.py

// Of all ranks, which are one process: they begin and end together.
bool copies_all = true;

void copy(simgrid::kernel::activity::ActivityImpl* message, void* data, std::size_t bytes) {
  if (!copies_all && bytes > longest_copied) return;
  smpi_comm_copy_buffer_callback(reinterpret_cast<simgrid::kernel::activity::CommImpl*>(message), data, bytes);
}

double latest(const mpi::Context& context, double time) {
  return mpi::all_reduce(context.comm(), time, mpi::Operation::maximum());
}

}  // namespace

double simulated_seconds(const mpi::Context& context, bool copies, const std::function<void()>& run) {
  constexpr double agreement = 1e-2;  // is over by then
  smpi_comm_set_copy_data_callback(copy);
  const double begin = latest(context, MPI_Wtime()) + agreement;

  sg_actor_sleep_for(begin - MPI_Wtime());
  copies_all = copies;
  run();
  const double end = latest(context, MPI_Wtime());
  copies_all = true;
  return end - begin;
}

void compute(double operations) { smpi_execute_flops(operations); }

}  // namespace plait::bench
