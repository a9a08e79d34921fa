// Collectives on a network, and pairs of them that overlap: by plait's pipelines, by the MPI library's own calls, and
// by its non-blocking ones over several communicators, against the least time that the links allow.
//
//   ./dev bench overlap                                           on 4 nodes of the emulated cluster, links of 1 Gb/s
//   ./dev bench overlap --ranks 8 --rate 200mbit                  on 8 nodes
//   ./dev bench overlap --ranks 4 --ppn 2                         on 2 nodes, 2 ranks each
//   ./dev bench overlap --ranks 8 --ppn 2                         on 4 nodes again: among ranks of equal place on their
//                                                                 nodes (/columns), as many bytes a node as with one
//                                                                 rank each, and among one rank of each node while the
//                                                                 others sleep (/active); --ranks 16 --ppn 4 likewise
//   mpirun -n 4 build/openmpi/bin/bench_overlap --quick           by hand: only checks that all is right

#include <mpi.h>

#include <array>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/base/stopwatch.hpp"
#include "plait/mpi/collectives.hpp"

#include "bench/harness/benchmark.hpp"
#include "bench/harness/mpi_name.hpp"
#include "bench/harness/ping_pong_limit.hpp"
#include "bench/harness/size_text.hpp"
#include "bench/overlap/overlap_active.hpp"
#include "bench/overlap/overlap_columns.hpp"
#include "bench/overlap/overlap_operations.hpp"

namespace {

using namespace plait;
using bench::Operands;
using bench::Operation;
using bench::Variant;
using By = Variant::By;

constexpr int ranks = 4;
constexpr Index kibi = 1024, mebi = 1024 * kibi;
constexpr std::array message_sizes{16 * kibi, 64 * kibi, 256 * kibi, 1 * mebi, 4 * mebi, 16 * mebi};
constexpr std::array sizes{256 * kibi, 1 * mebi, 4 * mebi, 16 * mebi};
constexpr std::array operations{Operation::point_to_point, Operation::reduce,           Operation::broadcast,
                                Operation::allreduce,      Operation::allreduce_update, Operation::reduce_broadcast,
                                Operation::matrix_vector};
constexpr std::array of_columns{Operation::reduce, Operation::broadcast, Operation::allreduce,
                                Operation::reduce_broadcast};
// What the literature compares with columns: one rank of each node, with as many bytes a node.
constexpr std::array of_active_ranks{Operation::reduce, Operation::broadcast};
const std::vector<Variant> of_mpi{{By::blocking_mpi, 1},
                                  {By::strands_of_mpi, 1},
                                  {By::strands_of_mpi, 2},
                                  {By::strands_of_mpi, 4},
                                  {By::strands_of_mpi, 8}};
using Way = bench::Levels::Way;
const std::vector<bench::Levels> allreduces{{Way::ring},
                                            {Way::ring, false, true},
                                            {Way::leaders},
                                            {Way::leaders, false, true},
                                            {Way::coffee},
                                            {Way::coffee, false, true},
                                            {Way::scattered},
                                            {Way::scattered, false, true},
                                            {Way::scattered, true},
                                            {Way::scattered, true, true}};
// What the literature compares, in its order: the ring, leaders as in SALaR, its own reduction in the node, computing
// meanwhile, both; then plait's own way.
const std::vector<bench::Levels> allreduces_with_update{{Way::ring},
                                                        {Way::leaders, false, true},
                                                        {Way::coffee, false, true},
                                                        {Way::leaders, false, true, true},
                                                        {Way::coffee, false, true, true},
                                                        {Way::scattered, true, true},
                                                        {Way::scattered, true, true, true}};

struct Setting {
  bench::Task task;
  Variant variant;
  Index bytes;
};

/// What is promised of the links, as a share of the least time: times of `bytes / goodput` are its inverse.
struct Promise {
  bench::Goal gate, aim;
};

Promise promise(const Setting& setting) {
  Promise result;
  const Operation operation = setting.task.operation;
  if (setting.variant.by != By::plait || operation == Operation::point_to_point ||
      operation == Operation::matrix_vector) {
    return result;
  }
  const bool to_all = bench::is_to_all(operation);
  if (setting.bytes == 16 * mebi) {
    result.gate.fraction_of_limit = to_all ? 1.50 / 1.65 : 1 / 1.20;
    result.aim.fraction_of_limit = to_all ? 1.50 / 1.55 : 1 / 1.05;
  }
  if (setting.bytes == 4 * mebi) result.gate.fraction_of_limit = to_all ? 1.50 / 1.80 : 1 / 1.30;
  if (setting.bytes >= 4 * mebi) result.gate.speedup_over_peer = 1 / 1.10;
  return result;
}

/// The variant of the MPI library that takes least time, of two runs each.
template <class AnyOperands>
Variant fastest_of_mpi(mpi::Context& context, const AnyOperands& operands) {
  std::pair<double, Variant> best{1e300, of_mpi.front()};
  for (const Variant& variant : of_mpi) {
    const auto run = operands.run_by(variant);
    operands.rewrite();
    run();
    operands.rewrite();
    mpi::barrier(context.comm());
    const Stopwatch watch;
    run();
    const double seconds = mpi::all_reduce(context.comm(), watch.seconds(), mpi::Operation::maximum());
    if (seconds < best.first) best = {seconds, variant};
  }
  return best.second;
}

std::vector<Index> sizes_of(Operation operation) {
  if (operation == Operation::point_to_point) return {message_sizes.begin(), message_sizes.end()};
  return {sizes.begin(), sizes.end()};
}

bool is_square(int number) {
  int root = 1;
  while (root * root < number) ++root;
  return root * root == number;
}

/// What as many ranks can do: collectives of columns where a node has several, products on a square mesh.
std::vector<bench::Task> tasks(const mpi::Context& context) {
  const bool shares_nodes = context.topology().ranks_per_node() > 1;
  std::vector<bench::Task> result;
  for (const Operation operation : operations) {
    if (operation == Operation::matrix_vector && !is_square(context.size())) continue;
    if (operation == Operation::allreduce_update && !shares_nodes) continue;
    result.push_back({operation});
  }
  if (bench::columns(context) < 2) return result;
  for (const Operation operation : of_columns) result.push_back({operation, bench::Among::columns});
  for (const Operation operation : of_active_ranks) result.push_back({operation, bench::Among::active});
  return result;
}

/// plait's, then MPI's, then those that tell where ranks of one node make the difference.
std::vector<Variant> variants(const bench::Task& task, bool shares_nodes) {
  std::vector<Variant> result{{By::plait, 1}};
  result.insert(result.end(), of_mpi.begin(), of_mpi.end());
  const auto add = [&](const std::vector<bench::Levels>& all) {
    for (const bench::Levels& levels : all) result.push_back({By::levels, 1, levels});
  };
  if (!shares_nodes || task.among != bench::Among::ranks) return result;
  if (task.operation == Operation::allreduce) add(allreduces);
  if (task.operation == Operation::allreduce_update) add(allreduces_with_update);
  return result;
}

template <class AnyOperands>
bench::Job job_of(mpi::Context& context, const Setting& setting, const AnyOperands& operands) {
  const double factor = bench::bound(setting.task.operation, context);
  bench::Job job;
  const Stopwatch watch;
  job.run = operands.run_by(setting.variant);
  job.setup_seconds = watch.seconds();
  job.rewrite = [=] { operands.rewrite(); };
  job.limits = {bench::ping_pong_limit(context, static_cast<Index>(factor * static_cast<double>(setting.bytes)))};
  job.wrong_elements = [=] { return operands.wrong_elements(); };
  if (setting.variant.by == By::plait) {
    const Variant best = fastest_of_mpi(context, operands);
    job.peer = bench::Contender{best.name(), operands.run_by(best)};
  }
  return job;
}

bench::Job set_up(mpi::Context& context, const Setting& setting) {
  if (setting.task.among == bench::Among::active)
    return job_of(context, setting, bench::ActiveOperands(context, setting.task.operation, setting.bytes));
  return job_of(context, setting, Operands(context, setting.task, setting.bytes));
}

std::vector<bench::Case> cases(mpi::Context& context, bool quick) {
  if (context.size() < 2) throw ArgumentError(fmt::format("started on {} ranks, expected two or more", context.size()));
  const char* const rate = std::getenv("PLAIT_CLUSTER_RATE");
  const std::string where = fmt::format(
      "nodes={} ranks={}{} {}", context.topology().nodes(), context.size(),
      rate == nullptr ? "" : fmt::format(" rate={:g}mbit", std::strtod(rate, nullptr) / 1e6), bench::mpi_name());
  const bool promised = context.size() == ranks && context.topology().nodes() == ranks;
  const bool shares_nodes = context.topology().ranks_per_node() > 1;
  std::vector<bench::Case> result;
  for (const bench::Task& task : tasks(context)) {
    for (const Index bytes : quick ? std::vector{64 * kibi} : sizes_of(task.operation)) {
      for (const Variant& variant : variants(task, shares_nodes)) {
        const Setting setting{task, variant, bytes};
        bench::Case one{
            .name = fmt::format("{} {} {} {}", bench::name(task), variant.name(), bench::size_text(bytes), where),
            .gate = {},
            .aim = {},
            .set_up = [&context, setting] { return set_up(context, setting); },
            .repetitions = {5, 20, 2}};
        if (promised) {
          one.gate = promise(setting).gate;
          one.aim = promise(setting).aim;
        }
        result.push_back(std::move(one));
      }
    }
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_benchmark(
      argc, argv,
      {"overlap",
       "Collectives on vectors of doubles between nodes of the emulated cluster: from the ranks of one node to those "
       "of another one, each its share (p2p), to or from rank 0 (reduce, broadcast), "
       "to all (allreduce), a reduction and then a broadcast of the result to the same ranks (reduce>broadcast), and "
       "along the rows, then the columns of a square mesh (mat-vec); among the ranks of equal place on their nodes, "
       "each "
       "with its share of the bytes (/columns), or among the first rank of each node while the others sleep (/active). "
       "An allreduce where ranks share nodes also by a ring, by leaders of "
       "nodes, with all ranks of a node reducing for its leader (coffee), "
       "and scattered among the ranks of a node, by messages or a window of shared memory, in one piece or in chunks "
       "that overlap; and with an update of a matrix by its result, afterwards or chunk by chunk (+compute). By plait "
       "(ours), by the MPI library's blocking "
       "calls (mpi), by its non-blocking ones over N communicators (mpi*N). The limit is what the links allow: a "
       "ping-pong of as many bytes as have to pass one link. The peer is the fastest of MPI's",
       {ranks},
       cases,
       "1gbit"});
}
