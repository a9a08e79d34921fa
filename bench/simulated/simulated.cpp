// bench_simulated OPERATION ALGORITHM BYTES SEGMENT STRANDS SENDS BANDWIDTH LATENCY CHECK: a collective operation on
// doubles among all ranks, on SimGrid's SMPI. One line on standard output tells the simulated time, and that in units
// of BYTES / BANDWIDTH; another one before it what was chosen, if so. SEGMENT and STRANDS are 0 where they are to be
// chosen. CHECK is 1 where every rank is to have memory of its own, and the data are compared; otherwise all ranks
// share their memory, so that thousands fit. Started by simulated.py.
#include <mpi.h>

#include <cstdlib>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <simgrid/actor.h>

#include "plait/base/error.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/context.hpp"
#include "plait/mpi/environment.hpp"

#include "bench/overlapped_operation.hpp"
#include "bench/simulated/collectives.hpp"
#include "bench/simulated/memory.hpp"

namespace {

using plait::Index;
using plait::bench::Operation;
using plait::bench::SimulatedCollective;
using plait::mpi::Context;

Operation parse_operation(std::string_view text) {
  for (const Operation operation :
       {Operation::reduce, Operation::broadcast, Operation::allreduce, Operation::reduce_broadcast}) {
    if (text == plait::bench::name(operation)) return operation;
  }
  throw plait::ArgumentError(fmt::format("'{}' is no operation", text));
}

template <class Number>
std::optional<Number> unless_zero(Number number) {
  return number == 0 ? std::nullopt : std::optional(number);
}

double latest(const Context& context, double time) {
  return plait::mpi::all_reduce(context.comm(), time, plait::mpi::Operation::maximum());
}

// Simulated seconds from when all ranks begin, at one time, to when the last one has its result.
double time_of(const Context& context, const std::function<void()>& run) {
  constexpr double agreement = 1e-2;  // is over by then
  const double begin = latest(context, MPI_Wtime()) + agreement;

  sg_actor_sleep_for(begin - MPI_Wtime());
  run();
  return latest(context, MPI_Wtime()) - begin;
}

void run(const SimulatedCollective& collective, double bandwidth, double latency) {
  Context context(MPI_COMM_WORLD);
  context.use_machine(plait::bench::simulated_machine(bandwidth, latency, collective.sends));
  std::string how;  // as it was told first
  context.tell_choices_to([&how](const std::string& line) { how = how.empty() ? line : how; });

  const Index bytes = collective.elements * Index{sizeof(double)};
  const plait::bench::SimulatedMemory memory(bytes, !collective.sums);
  const auto operation = prepare(context, collective, memory.bytes());
  if (collective.sums) write_operand(collective, context.rank(), memory.bytes());
  const double seconds = time_of(context, operation);
  Index wrong = collective.sums ? wrong_elements(collective, context.size(), context.rank(), memory.bytes()) : 0;
  wrong = plait::mpi::all_reduce(context.comm(), wrong, plait::mpi::Operation::sum());
  if (wrong != 0) throw std::runtime_error(fmt::format("{} elements are wrong", wrong));

  if (context.rank() != 0) return;
  if (!how.empty()) fmt::print("chosen: {}\n", how);
  const double unit = static_cast<double>(bytes) / bandwidth;
  fmt::print(
      "simulated: {} {}, {} ranks, {} bytes, {} sends at once: {:.1f} us, {:.3f} bytes/bandwidth, bound {:.3f}{}\n",
      plait::bench::name(collective.operation), collective.algorithm, context.size(), bytes, collective.sends,
      seconds * 1e6, seconds / unit, plait::bench::bound(collective.operation, context.size()),
      collective.sums ? ", checked" : "");
}

}  // namespace

int main(int argc, char** argv) {
  plait::mpi::Environment environment(argc, argv, MPI_COMM_WORLD);
  try {
    if (argc != 10)
      throw std::runtime_error("expected OPERATION ALGORITHM BYTES SEGMENT STRANDS SENDS BANDWIDTH LATENCY CHECK");
    run({.operation = parse_operation(argv[1]),
         .algorithm = argv[2],
         .elements = std::atoll(argv[3]) / Index{sizeof(double)},
         .strands = unless_zero(std::atoi(argv[5])),
         .message_bytes = unless_zero<Index>(std::atoll(argv[4])),
         .sends = std::atoi(argv[6]),
         .sums = std::atoi(argv[9]) != 0},
        std::atof(argv[7]), std::atof(argv[8]));
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_simulated: {}\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return 0;
}
