// What passes the links of nodes for D² and D³, with several processes on each: Table IV of Huang and Chow. Their
// estimate and its rules (`bench::estimated_node_bytes`), and what Algorithm 4, its collectives done by chains, and
// plait's own algorithm send between nodes by the formulas. What the transport counts on the ranks of the run is held
// to these, message by message.
//
//   mpirun -n 8 build/openmpi/bin/bench_symm_volume --ppn 2       counts on 4 nodes that are pretended to be such
//   mpirun -n 125 build/openmpi/bin/bench_symm_volume --ppn 2     a row of the table
//   ./dev cluster -k 4 --ppn 2 -- build/openmpi/bin/bench_symm_volume     on the nodes of an emulated cluster
//
// Prints a table in Markdown. Exit status: 1 where something else was counted, 2 for a usage error.

#include <mpi.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "plait/dense/symm/plan.hpp"
#include "plait/dense/symm/square_cube.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/context.hpp"

#include "bench/multiply/symm_transfers.hpp"

namespace {
int ranks_of_pretended_nodes = 0;  // 0: the nodes that there are. MPI's call below has no other way to know it
}  // namespace

// Of MPI's profiling interface: the program's own function is called in place of the library's.
extern "C" int MPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm* part) {
  if (split_type != MPI_COMM_TYPE_SHARED || ranks_of_pretended_nodes == 0) {
    return PMPI_Comm_split_type(comm, split_type, key, info, part);
  }
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return PMPI_Comm_split(comm, rank / ranks_of_pretended_nodes, key, part);
}

namespace {

using namespace plait;
using bench::NodeVolume;
namespace symm = dense::symm;

constexpr Index element_bytes = sizeof(double);
constexpr Index molecule = 7645;  // 1hsg_70's
constexpr std::array algorithms{symm::Algorithm::overlapped, symm::Algorithm::mirrored};

struct PublishedRow {
  int ranks_per_node;
  int edge;
  double megabytes;  // of 2^20 bytes
};
constexpr std::array<PublishedRow, 5> published{
    PublishedRow{1, 4, 265.0}, {2, 5, 311.5}, {4, 6, 405.1}, {6, 7, 429.7}, {8, 8, 390.5}};

std::vector<bench::SymmTransfer> transfers(int ranks, Index n, symm::Algorithm algorithm) {
  const symm::Options options = dense::symm::complete(ranks, n, {.algorithm = algorithm});
  return bench::symm_transfers_of_square_cube(dense::symm::grid_of(n, options), options, element_bytes);
}

std::string megabytes(double bytes) { return fmt::format("{:.1f}", bytes / (1 << 20)); }

/// What is predicted for a mesh with so many ranks on each node, as cells of the table.
std::string predicted(int edge, int ranks_per_node) {
  const int ranks = edge * edge * edge;
  const model::Placement placement{ranks, ranks_per_node};
  std::string cells = fmt::format(" {} |", megabytes(bench::estimated_node_bytes(molecule, edge, ranks_per_node, 8)));
  for (const symm::Algorithm algorithm : algorithms) {
    const NodeVolume volume = bench::node_volume(placement, transfers(ranks, molecule, algorithm));
    cells += fmt::format(" {} | {} |", megabytes(static_cast<double>(volume.busiest_bytes())),
                         megabytes(static_cast<double>(volume.total.bytes)));
  }
  return cells;
}

void print_table(int own_edge, int own_ranks_per_node) {
  std::puts(
      "| processes a node | mesh | nodes | Huang and Chow | by their rules | Algorithm 4: busiest node | all nodes | "
      "plait's own: busiest node | all nodes |\n|--:|---|--:|--:|--:|--:|--:|--:|--:|");
  const auto print = [](int ranks_per_node, int edge, const std::string& known) {
    const int ranks = edge * edge * edge;
    std::puts(fmt::format("| {} | {} x {} x {} | {} | {} |{}", ranks_per_node, edge, edge, edge,
                          model::Placement{ranks, ranks_per_node}.nodes(), known, predicted(edge, ranks_per_node))
                  .c_str());
  };
  bool is_own_printed = false;
  for (const PublishedRow& row : published) {
    print(row.ranks_per_node, row.edge, fmt::format("{:.1f}", row.megabytes));
    is_own_printed = is_own_printed || (row.edge == own_edge && row.ranks_per_node == own_ranks_per_node);
  }
  if (!is_own_printed) print(own_ranks_per_node, own_edge, "–");
}

/// What this run's ranks send to other nodes, counted and by the formulas. Whether they are the same on each rank.
bool count(mpi::Context& context, Index n, symm::Algorithm algorithm) {
  dense::symm::SquareCube<double> kernel(context, n, {.algorithm = algorithm});
  layout::DistributedMatrix<double> d(kernel.layout(), context.rank()), d2(kernel.layout(), context.rank()),
      d3(kernel.layout(), context.rank());
  d.for_each_element([](Index i, Index j, double& element) { element = static_cast<double>((i + j) % 3); });
  const char* const label = "symm square cube";
  context.counters().clear();
  kernel.square_cube(d, d2, d3);
  const Traffic counted = context.counters()[label].sent_to(PeerClass::network);

  const auto all = transfers(context.size(), n, algorithm);
  Traffic expected;
  for (const bench::SymmTransfer& transfer : all) {
    const bool leaves = context.topology().class_of(transfer.to) == PeerClass::network;
    if (transfer.from == context.rank() && leaves) expected += transfer.traffic;
  }
  const auto sum = [&](Index value) { return mpi::all_reduce(context.comm(), value, mpi::Operation::sum()); };
  const Index wrong_ranks = sum(counted == expected ? 0 : 1);
  const Index bytes = sum(counted.bytes), messages = sum(counted.messages);
  if (context.rank() == 0) {
    const Traffic total = bench::node_volume(context.placement(), all).total;
    std::puts(fmt::format("{}, n = {}: {} bytes in {} messages between {} nodes were counted, {} in {} predicted",
                          algorithm == symm::Algorithm::mirrored ? "plait's own" : "Algorithm 4 by chains", n, bytes,
                          messages, context.topology().nodes(), total.bytes, total.messages)
                  .c_str());
  }
  return wrong_ranks == 0;
}

/// The value of `--name N`; `missing` where it is not there, -1 where it is wrong.
int option(int argc, char** argv, std::string_view name, int missing) {
  for (int i = 1; i < argc; ++i) {
    if (argv[i] != name) continue;
    const std::string_view text = i + 1 < argc ? argv[i + 1] : "";
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() && value >= 1 ? value : -1;
  }
  return missing;
}

int run(int argc, char** argv) {
  const int n = option(argc, argv, "--n", 96);
  ranks_of_pretended_nodes = option(argc, argv, "--ppn", 0);
  if (n < 1 || ranks_of_pretended_nodes < 0 || argc % 2 == 0) {
    std::fputs("usage: bench_symm_volume [--ppn PROCESSES-A-NODE] [--n ORDER]\n", stderr);
    return 2;
  }
  mpi::Context context(MPI_COMM_WORLD);
  if (context.rank() == 0) {
    std::puts(fmt::format("Between nodes, n = {}, megabytes of 2^20 bytes:\n", molecule).c_str());
    print_table(dense::symm::Grid::largest_cube(context.size()), context.topology().ranks_per_node());
    std::puts("");
  }
  bool is_right = true;
  for (const symm::Algorithm algorithm : algorithms) is_right = count(context, n, algorithm) && is_right;
  return is_right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int status = run(argc, argv);
  MPI_Finalize();
  return status;
}
