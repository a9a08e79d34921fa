// Cutting graphs into parts of even weight, without points: multilevel against METIS, the peer, and Scotch. A streaming
// read of the graph is what bounds it. The cost of a case is the cut.
//
//   ./dev bench partition
//   ./dev bench partition --filter delaunay
//
// A gate: a cut of at most 1.02 of the best peer's, in at most three times METIS' time.

#include "plait/partition/partition.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "plait/partition/quality.hpp"

#include "bench/harness/benchmark.hpp"
#include "bench/partition/graphs.hpp"
#include "bench/partition/peers.hpp"
#include "bench/sinkhorn/streaming_read.hpp"

namespace {

using namespace plait;

struct Setting {
  std::string name;
  int parts;
  std::function<graph::Graph()> graph;
};

bench::Case make_case(mpi::Context& context, const Setting& setting) {
  bench::Case result;
  result.name = fmt::format("{} k={} ranks={}", setting.name, setting.parts, context.size());
  result.repetitions = {.least = 5, .most = 10, .seconds = 5};
  result.set_up = [&context, setting] {
    const auto problem = std::make_shared<bench::PartitionProblem>();
    problem->graph = setting.graph();
    problem->parts = setting.parts;
    const auto quality = [=] { return partition::quality_of(problem->graph.view(), problem->part, problem->parts); };
    bench::Job job;
    job.rewrite = [=] { problem->part.assign(at(problem->graph.view().vertices()), 0); };
    job.run = [=, &context] {
      problem->part = partition::partition(context, problem->graph.view(), {},
                                           {.parts = problem->parts, .imbalance = problem->imbalance})
                          .part;
    };
    const bench::Contender read = bench::streaming_read(std::as_bytes(std::span(problem->graph.neighbours)));
    job.limits = {{read.name, [problem, run = read.run] { run(); }}};
    job.peer = bench::metis(problem);
    if (const auto other = bench::scotch(problem)) job.others = {*other};
    job.cost = [=] { return static_cast<double>(quality().cut); };
    // METIS may miss the balance that it was asked for by a little.
    job.wrong_elements = [=] { return quality().imbalance <= problem->imbalance * 1.1 + .001 ? Index{0} : Index{1}; };
    return job;
  };
  result.gate = {.fraction_of_limit = {}, .speedup_over_peer = 1. / 3, .cost_over_best = 1.02};
  return result;
}

std::vector<bench::Case> cases(mpi::Context& context, bool quick) {
  const auto grid = [](const std::string& name, std::vector<int> extents, bench::Stencil stencil, int parts) {
    return Setting{name, parts, [=] { return bench::grid_graph(extents, stencil); }};
  };
  const auto delaunay = [](Index n, int parts) {
    return Setting{fmt::format("delaunay {}", n), parts, [=] { return bench::delaunay_graph(n, 1); }};
  };
  const auto power_law = [](Index n, int edges, int parts) {
    return Setting{fmt::format("power law {}x{}", n, edges), parts,
                   [=] { return bench::power_law_graph(n, edges, 1); }};
  };
  const auto random = [](Setting setting) {
    return Setting{setting.name + " at random", setting.parts,
                   [graph = setting.graph] { return bench::shuffled(graph(), 1); }};
  };
  using enum bench::Stencil;
  const auto settings =
      quick ? std::vector<Setting>{grid("grid 30x30", {30, 30}, faces, 4), delaunay(1000, 5), power_law(300, 3, 3)}
            : std::vector<Setting>{grid("grid 1000x1000", {1000, 1000}, faces, 16),
                                   grid("grid 300x3000", {300, 3000}, faces, 7),
                                   grid("grid 600x600, 8 neighbours", {600, 600}, corners, 32),
                                   grid("grid 100x100x100", {100, 100, 100}, faces, 16),
                                   grid("grid 60x60x60", {60, 60, 60}, faces, 100),
                                   grid("grid 40x40x40, 26 neighbours", {40, 40, 40}, corners, 8),
                                   {"mesh of 30x30x30x6 tetrahedra", 16, [] { return bench::tetrahedra_graph(30); }},
                                   random(grid("grid 1000x1000", {1000, 1000}, faces, 16)),
                                   delaunay(1 << 18, 64),
                                   delaunay(1 << 18, 2),
                                   delaunay(1 << 16, 256),
                                   power_law(50'000, 4, 8)};
  std::vector<bench::Case> result;
  for (const Setting& setting : settings) result.push_back(make_case(context, setting));
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_benchmark(
      argc, argv,
      {"partition",
       "Cutting graphs into k parts, at most 3 % above the even share, without points, against METIS_PartGraphKway "
       "(the peer) and Scotch's default strategy, where they are installed; the limit is a read of the graph. The cost "
       "is the weight of the edges between parts. The case names the graph",
       {1},
       cases});
}
