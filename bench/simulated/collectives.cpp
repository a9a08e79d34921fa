#include "bench/simulated/collectives.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/collective/algorithm/algorithms.hpp"
#include "plait/collective/pipeline.hpp"
#include "plait/mpi/reduction.hpp"
#include "plait/schedule/schedule.hpp"

namespace plait::bench {

namespace {

using collective::Group;
using collective::Pipeline;
using collective::Place;
using collective::Stream;
using schedule::Combine;
using schedule::Graph;
using schedule::Schedule;

constexpr Index element_bytes = sizeof(double);

// Small whole numbers, whose sums are exact in whatever order.
double value(int rank, Index i) { return static_cast<double>((rank + 1) * (i % 97 + 1)); }

// Row `rank / edge` and column `rank % edge` of a square mesh, whose rows sum up to the diagonal. From there the sums
// go down the columns.
struct Mesh {
  Mesh(int ranks, int rank)
      : edge(static_cast<int>(std::lround(std::sqrt(ranks)))), row(rank / edge), column(rank % edge) {
    if (edge * edge != ranks) throw ArgumentError(fmt::format("ranks: {}, expected a square", ranks));
  }
  [[nodiscard]] Group along_row(const mpi::Context& context) const { return {context, ranks(row * edge, 1)}; }
  [[nodiscard]] Group along_column(const mpi::Context& context) const { return {context, ranks(column, edge)}; }

  int edge, row, column;

 private:
  [[nodiscard]] std::vector<int> ranks(int first, int stride) const {
    std::vector<int> all;
    for (int i = 0; i < edge; ++i) all.push_back(first + i * stride);
    return all;
  }
};

void leave(void*, void*, int*, MPI_Datatype*) {}

Combine combine(const SimulatedCollective& collective) {
  if (collective.sums) return mpi::reduction<double>(mpi::Operation::sum());
  return Combine([](const void*, Index, const void*, const void*, void*) {}, nullptr, element_bytes, false)
      .in_any_order();
}

// A schedule by an algorithm that was named: append(graph, stream, data).
template <model::Algorithm A, class Append>
Schedule schedule_by(mpi::Context& context, const SimulatedCollective& collective, A algorithm, const Append& append) {
  const auto choice = collective::choose<A>(
      context, context.placement(), collective.elements * element_bytes,
      {.algorithm = algorithm, .strands = collective.strands, .segment_bytes = collective.message_bytes});
  const Index segment = choice.segment_bytes * messages_of_segment(algorithm, Group::all(context)) / element_bytes;
  const Stream stream = Stream::cut(collective.elements, element_bytes, choice.strands, std::max<Index>(segment, 1));
  Graph graph(choice.strands);
  const Place data{graph.output(collective.elements * element_bytes)};
  append(graph, stream, data);
  return {context, std::move(graph), name(collective.operation), {.sends = collective.sends}};
}

Schedule schedule_by_name(mpi::Context& context, const SimulatedCollective& collective) {
  const Group all = Group::all(context);
  const Combine sum = combine(collective);
  if (collective.operation == Operation::broadcast) {
    const auto algorithm = model::parse_algorithm<model::BroadcastAlgorithm>(collective.algorithm);
    return schedule_by(context, collective, algorithm, [&](Graph& graph, const Stream& stream, Place data) {
      static_cast<void>(collective::broadcast_by(algorithm, graph, all, 0, stream, data));
    });
  }
  if (collective.operation == Operation::allreduce) {
    const auto algorithm = model::parse_algorithm<model::AllreduceAlgorithm>(collective.algorithm);
    return schedule_by(context, collective, algorithm, [&](Graph& graph, const Stream& stream, Place data) {
      static_cast<void>(collective::allreduce_by(algorithm, graph, context, all, stream, {data, data, sum}));
    });
  }
  if (collective.operation == Operation::matrix_vector)
    throw ArgumentError("a product of matrix and vector has two operations, expected chosen ones or the library's");
  const auto algorithm = model::parse_algorithm<model::ReduceAlgorithm>(collective.algorithm);
  return schedule_by(context, collective, algorithm, [&](Graph& graph, const Stream& stream, Place data) {
    const Stream reduced = collective::reduce_by(algorithm, graph, all, 0, stream, {data, data, sum});
    if (collective.operation == Operation::reduce) return;
    // The ranks that were the first to hand their part of the sum on are the first to get all of it.
    static_cast<void>(collective::broadcast_by(static_cast<model::BroadcastAlgorithm>(algorithm), graph, all.reversed(),
                                               all.size() - 1, reduced, data));
  });
}

Schedule chosen_schedule(mpi::Context& context, const SimulatedCollective& collective) {
  const Group all = Group::all(context);
  const Combine sum = combine(collective);
  Pipeline pipeline(context, collective.elements, element_bytes,
                    {.strands = collective.strands, .segment_bytes = collective.message_bytes});
  switch (collective.operation) {
    case Operation::reduce: pipeline.reduce(all, 0, sum); break;
    case Operation::broadcast: pipeline.broadcast(all, 0); break;
    case Operation::allreduce: pipeline.allreduce(all, sum); break;
    case Operation::matrix_vector: {
      const Mesh mesh(context.size(), context.rank());
      pipeline.reduce(mesh.along_row(context), mesh.row, sum).broadcast(mesh.along_column(context), mesh.column);
      break;
    }
    default: pipeline.reduce(all, 0, sum).broadcast(all, 0); break;
  }
  return pipeline.schedule(name(collective.operation), {.sends = collective.sends});
}

void run_library(MPI_Comm comm, int rank, const SimulatedCollective& collective, MPI_Op sum,
                 std::span<std::byte> data) {
  const auto count = static_cast<int>(collective.elements);
  const bool reduces = collective.operation == Operation::reduce || collective.operation == Operation::reduce_broadcast;
  const bool broadcasts =
      collective.operation == Operation::broadcast || collective.operation == Operation::reduce_broadcast;
  if (reduces) {
    MPI_Reduce(rank == 0 ? MPI_IN_PLACE : data.data(), rank == 0 ? data.data() : nullptr, count, MPI_DOUBLE, sum, 0,
               comm);
  }
  if (broadcasts) MPI_Bcast(data.data(), count, MPI_DOUBLE, 0, comm);
  if (collective.operation == Operation::allreduce)
    MPI_Allreduce(MPI_IN_PLACE, data.data(), count, MPI_DOUBLE, sum, comm);
}

}  // namespace

model::Machine simulated_machine(double bytes_per_second, double latency_seconds, int sends) {
  std::vector<model::BandwidthCurve::Point> points;
  for (Index bytes = 1024; bytes <= Index{16} << 20; bytes *= 4) {
    const double transfer = static_cast<double>(bytes) / bytes_per_second;
    points.push_back({bytes, static_cast<double>(bytes) / std::max(transfer, (latency_seconds + transfer) / sends)});
  }
  const model::BandwidthCurve curve(std::move(points));
  model::Machine machine = model::default_machine();
  machine.description = "simulated";
  machine.ranks_per_node = 1;
  machine.combine_bytes_per_second = 1e15;
  machine.network = {.measured = true, .latency_seconds = latency_seconds, .streams = {{1, curve, curve}}};
  return machine;
}

std::function<void()> prepare(mpi::Context& context, const SimulatedCollective& collective, std::span<std::byte> data) {
  if (collective.algorithm == "library") {
    MPI_Op sum = MPI_SUM;
    if (!collective.sums) MPI_Op_create(leave, 1, &sum);
    if (collective.operation == Operation::matrix_vector) {
      const Mesh mesh(context.size(), context.rank());
      const auto row = std::make_shared<mpi::Communicator>(context.comm().split(mesh.row, mesh.column));
      const auto column = std::make_shared<mpi::Communicator>(context.comm().split(mesh.column, mesh.row));
      return [mesh, row, column, sum, data, count = static_cast<int>(collective.elements)] {
        const bool is_root = mesh.row == mesh.column;
        MPI_Reduce(is_root ? MPI_IN_PLACE : data.data(), is_root ? data.data() : nullptr, count, MPI_DOUBLE, sum,
                   mesh.row, row->handle());
        MPI_Bcast(data.data(), count, MPI_DOUBLE, mesh.column, column->handle());
      };
    }
    return [&context, collective, sum, data] {
      run_library(context.comm().handle(), context.rank(), collective, sum, data);
    };
  }
  const auto schedule = std::make_shared<Schedule>(
      collective.algorithm == "chosen" ? chosen_schedule(context, collective) : schedule_by_name(context, collective));
  schedule->prepare();
  return [schedule, data] {
    const std::array bindings{schedule::Binding::output(data)};
    schedule->start(bindings);
    schedule->wait();
  };
}

void write_operand(const SimulatedCollective& collective, int rank, std::span<std::byte> data) {
  auto* const elements = reinterpret_cast<double*>(data.data());
  for (Index i = 0; i < collective.elements; ++i) elements[i] = value(rank, i);
}

Index wrong_elements(const SimulatedCollective& collective, int ranks, int rank, std::span<const std::byte> data) {
  if (collective.operation == Operation::reduce && rank != 0) return 0;
  int times = collective.operation == Operation::broadcast ? 1 : ranks * (ranks + 1) / 2;
  if (collective.operation == Operation::matrix_vector) {
    const Mesh mesh(ranks, rank);
    times = mesh.edge * (2 * mesh.column * mesh.edge + mesh.edge + 1) / 2;
  }
  const auto* const elements = reinterpret_cast<const double*>(data.data());
  Index wrong = 0;
  for (Index i = 0; i < collective.elements; ++i) wrong += elements[i] == times * value(0, i) ? 0 : 1;
  return wrong;
}

}  // namespace plait::bench
