// bench_simulated BANDWIDTH LATENCY FLOPS JOB ...: something that all ranks do together, on SimGrid's SMPI. One line on
// standard output tells the simulated time. Started by simulated.py, which says what the numbers mean; those that are
// to be chosen are 0.
//
//   collective OPERATION ALGORITHM BYTES SEGMENT STRANDS SENDS CHECK   a collective operation on doubles
//   square-cube ALGORITHM BACKEND N EDGE LAYERS SEGMENT STRANDS        the square and the cube of a symmetric matrix
//   scaling FORM WAY MEANWHILE N MEMORY                                an iteration that scales a matrix
//
// CHECK is 1 where messages are to be copied, and the data compared; otherwise memory is not touched, or all ranks
// share theirs, so that thousands fit.
#include <mpi.h>

#include <cstdlib>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/context.hpp"
#include "plait/mpi/environment.hpp"

#include "bench/overlap/overlapped_operation.hpp"
#include "bench/simulated/collectives.hpp"
#include "bench/simulated/measure.hpp"
#include "bench/simulated/memory.hpp"
#include "bench/simulated/scaling.hpp"
#include "bench/simulated/square_cube.hpp"

namespace {

using plait::Index;
using plait::bench::Operation;
using plait::bench::simulated_seconds;
using plait::bench::SimulatedCollective;
using plait::bench::SimulatedScaling;
using plait::bench::SimulatedSquareCube;
using plait::mpi::Context;
using plait::sinkhorn::SumWay;

struct Network {
  double bytes_per_second;
  double latency_seconds;
};

// The words of a job, one after the other.
class Words {
 public:
  Words(int count, char** words) : words_(words, static_cast<std::size_t>(count)) {}
  std::string text() {
    if (words_.empty()) throw std::runtime_error("fewer arguments than expected");
    const std::string first = words_.front();
    words_ = words_.subspan(1);
    return first;
  }
  double number() { return std::atof(text().c_str()); }
  Index whole() { return std::atoll(text().c_str()); }
  template <class Number>
  std::optional<Number> unless_zero() {
    const Index value = whole();
    return value == 0 ? std::nullopt : std::optional(static_cast<Number>(value));
  }

 private:
  std::span<char*> words_;
};

Operation parse_operation(std::string_view text) {
  for (const Operation operation : {Operation::reduce, Operation::broadcast, Operation::allreduce,
                                    Operation::reduce_broadcast, Operation::matrix_vector}) {
    if (text == plait::bench::name(operation)) return operation;
  }
  throw plait::ArgumentError(fmt::format("'{}' is no operation", text));
}

SumWay parse_way(std::string_view text) {
  for (const SumWay way : {SumWay::chosen, SumWay::mpi, SumWay::ring, SumWay::two_level, SumWay::coffee}) {
    if (text == plait::sinkhorn::name(way)) return way;
  }
  throw plait::ArgumentError(fmt::format("'{}' is no way to sum up", text));
}

void run_collective(Context& context, const Network& network, Words words) {
  SimulatedCollective collective{};
  collective.operation = parse_operation(words.text());
  collective.algorithm = words.text();
  collective.elements = words.whole() / Index{sizeof(double)};
  collective.message_bytes = words.unless_zero<Index>();
  collective.strands = words.unless_zero<int>();
  collective.sends = static_cast<int>(words.whole());
  collective.sums = words.whole() != 0;
  context.use_machine(
      plait::bench::simulated_machine(network.bytes_per_second, network.latency_seconds, collective.sends));

  const Index bytes = collective.elements * Index{sizeof(double)};
  // Own schedules do not touch what is not copied; the library's collectives copy by themselves.
  const plait::bench::SimulatedMemory memory(bytes, !collective.sums && collective.algorithm == "library");
  const auto operation = prepare(context, collective, memory.bytes());
  if (collective.sums) write_operand(collective, context.rank(), memory.bytes());
  const double seconds = simulated_seconds(context, collective.sums, operation);
  Index wrong = collective.sums ? wrong_elements(collective, context.size(), context.rank(), memory.bytes()) : 0;
  wrong = plait::mpi::all_reduce(context.comm(), wrong, plait::mpi::Operation::sum());
  if (wrong != 0) throw std::runtime_error(fmt::format("{} elements are wrong", wrong));

  if (context.rank() != 0) return;
  const double unit = static_cast<double>(bytes) / network.bytes_per_second;
  fmt::print(
      "simulated: {} {}, {} ranks, {} bytes, {} sends at once: {:.1f} us, {:.3f} bytes/bandwidth, bound {:.3f}{}\n",
      plait::bench::name(collective.operation), collective.algorithm, context.size(), bytes, collective.sends,
      seconds * 1e6, seconds / unit, plait::bench::bound(collective.operation, context.size()),
      collective.sums ? ", checked" : "");
}

void run_square_cube(Context& context, const Network& network, Words words) {
  SimulatedSquareCube task{};
  const std::string algorithm = words.text();
  task.options.algorithm = plait::bench::parse_square_cube(algorithm);
  const std::string backend = words.text();
  task.options.backend = backend == "mpi" ? plait::dense::symm::Backend::mpi : plait::dense::symm::Backend::plait;
  task.n = words.whole();
  task.options.edge = words.unless_zero<int>();
  task.options.layers = words.unless_zero<int>();
  task.options.segment_bytes = words.unless_zero<Index>();
  task.options.strands = words.unless_zero<int>();

  const auto prepared = prepare(context, task);
  const double seconds = simulated_seconds(context, false, prepared.run);
  if (context.rank() != 0) return;
  const auto n = static_cast<double>(task.n);
  fmt::print(
      "simulated: {} {}*{}, {} ranks, n = {}: {:.3f} ms, {:.2f} TFlop/s, {:.1f} MB through the busiest link, {:.1f} % "
      "of "
      "its bandwidth\n",
      algorithm, backend, task.options.strands.value_or(0), context.size(), task.n, seconds * 1e3,
      4 * n * n * n / seconds * 1e-12, prepared.busiest_bytes * 1e-6,
      100 * prepared.busiest_bytes / network.bytes_per_second / seconds);
}

void run_scaling(Context& context, const Network& network, double operations_per_second, Words words) {
  SimulatedScaling scaling{};
  const std::string form = words.text();
  const std::string way = words.text();
  const std::string meanwhile = words.text();
  scaling.fuses = form == "fused";
  scaling.way = parse_way(way);
  scaling.overlaps = meanwhile == "rescale";
  scaling.n = words.whole();
  scaling.seconds_per_byte = 1 / words.number();
  scaling.operations_per_second = operations_per_second;
  context.use_machine(plait::bench::simulated_machine(network.bytes_per_second, network.latency_seconds, 2));

  const double seconds = simulated_seconds(context, false, prepare(context, scaling));
  if (context.rank() != 0) return;
  fmt::print("simulated: scaling {} {} {}, {} ranks, n = {}: {:.3f} ms\n", form, way, meanwhile, context.size(),
             scaling.n, seconds * 1e3);
}

void run(Words words) {
  Network network{};
  network.bytes_per_second = words.number();
  network.latency_seconds = words.number();
  const double operations_per_second = words.number();
  const std::string job = words.text();

  Context context(MPI_COMM_WORLD);
  std::string how;  // as it was told first
  if (context.rank() == 0) context.choices().tell([&how](const std::string& line) { how = how.empty() ? line : how; });
  if (job == "collective") {
    run_collective(context, network, words);
  } else if (job == "square-cube") {
    run_square_cube(context, network, words);
  } else if (job == "scaling") {
    run_scaling(context, network, operations_per_second, words);
  } else {
    throw std::runtime_error(fmt::format("'{}' is no job", job));
  }
  if (!how.empty()) fmt::print("chosen: {}\n", how);
}

}  // namespace

int main(int argc, char** argv) {
  plait::mpi::Environment environment(argc, argv, MPI_COMM_WORLD);
  try {
    run(Words(argc - 1, argv + 1));
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_simulated: {}\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return 0;
}
