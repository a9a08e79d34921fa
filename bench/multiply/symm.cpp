// D² and D³ of a symmetric matrix by all algorithms of symm::SquareCube, each against Algorithm 4, the literature's
// baseline, and against the least time in which its own messages pass the busiest link.
//
//   ./dev bench symm                                              on 8 nodes of the emulated cluster, links of 200 Mb/s
//   ./dev bench symm --ranks 27 --rate 100mbit                    on 27 nodes (Open MPI)
//   ./dev bench symm --ranks 8 --ppn 2 --rate 200mbit             on 4 nodes, 2 ranks each
//   mpirun -n 8 build/openmpi/bin/bench_symm --quick              by hand: only checks that all is right
//
// What passes the links with several processes a node, beside the literature's estimate: symm_volume.cpp.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "plait/base/stopwatch.hpp"
#include "plait/dense/symm/plan.hpp"
#include "plait/dense/symm/square_cube.hpp"
#include "plait/mpi/collectives.hpp"

#include "bench/harness/benchmark.hpp"
#include "bench/harness/mpi_name.hpp"
#include "bench/harness/ping_pong_limit.hpp"
#include "bench/multiply/symm_transfers.hpp"

namespace {

using namespace plait;
namespace symm = dense::symm;
using Matrix = layout::DistributedMatrix<double>;

constexpr std::array<Index, 2> sizes{768, 1536};
constexpr int most_strands = 6;

std::string name(const symm::Options& options) {
  const auto backend = [&] { return options.backend == symm::Backend::mpi ? "mpi" : "chains"; };
  switch (*options.algorithm) {
    case symm::Algorithm::original: return "alg3";
    case symm::Algorithm::baseline: return "alg4";
    case symm::Algorithm::overlapped: return fmt::format("alg5 {}*{}", backend(), *options.strands);
    case symm::Algorithm::cannon: return fmt::format("alg6 {}*{}", backend(), *options.strands);
    case symm::Algorithm::mirrored: break;
  }
  return "ours";
}

/// A projector u·uᵀ, so that its square and its cube are itself.
class Operands {
 public:
  Operands(mpi::Context& context, Index n, const symm::Options& options)
      : context_(context),
        kernel_(context, n, options),
        d_(kernel_.layout(), context.rank()),
        d2_(kernel_.layout(), context.rank()),
        d3_(kernel_.layout(), context.rank()) {
    double squares = 0;
    for (Index i = 0; i < n; ++i) squares += raw(i) * raw(i);
    scale_ = 1 / squares;
    const bool sends_by_itself = options.algorithm == symm::Algorithm::mirrored ||
                                 (options.strands.has_value() && options.backend == symm::Backend::plait);
    if (!sends_by_itself) return;
    expected_bytes_ = 0;
    const mpi::NodeTopology& topology = context.topology();
    for (const bench::SymmTransfer& transfer :
         bench::symm_transfers_of_square_cube(kernel_.mesh(), kernel_.options(), Index{sizeof(double)})) {
      if (transfer.from == context.rank() && topology.class_of(transfer.to) == PeerClass::network)
        *expected_bytes_ += transfer.traffic.bytes;
    }
  }
  void rewrite() {
    bytes_before_ = bytes_to_other_nodes();
    d_.for_each_element([&](Index row, Index column, double& element) { element = value(row, column); });
    for (Matrix* product : {&d2_, &d3_}) product->for_each_element([](Index, Index, double& element) { element = -9; });
  }
  void run() { kernel_.square_cube(d_, d2_, d3_); }
  /// One more if other bytes went to other nodes than the formulas say.
  [[nodiscard]] Index wrong_elements() const {
    Index wrong = expected_bytes_ && bytes_to_other_nodes() - bytes_before_ != *expected_bytes_ ? 1 : 0;
    for (const Matrix* product : {&d2_, &d3_}) {
      product->for_each_element([&](Index row, Index column, const double& element) {
        wrong += std::abs(element - value(row, column)) <= 1e-13 ? 0 : 1;
      });
    }
    return wrong;
  }

 private:
  [[nodiscard]] static double raw(Index i) { return static_cast<double>(i % 13 - 5); }
  [[nodiscard]] double value(Index row, Index column) const { return scale_ * raw(row) * raw(column); }
  [[nodiscard]] Index bytes_to_other_nodes() const {
    const auto counted = context_.counters().find("symm square cube");
    return counted == context_.counters().end() ? 0 : counted->second.sent_to(PeerClass::network).bytes;
  }

  mpi::Context& context_;
  dense::symm::SquareCube<double> kernel_;
  Matrix d_, d2_, d3_;
  double scale_ = 0;
  std::optional<Index> expected_bytes_;  // to other nodes, where plait itself sends
  Index bytes_before_ = 0;
};

std::vector<symm::Options> of_algorithm_5() {
  std::vector<symm::Options> all;
  for (const symm::Backend backend : {symm::Backend::mpi, symm::Backend::plait}) {
    for (int strands = 1; strands <= most_strands; ++strands)
      all.push_back({.algorithm = symm::Algorithm::overlapped, .backend = backend, .strands = strands});
  }
  return all;
}

std::vector<symm::Options> ways() {
  std::vector<symm::Options> all{{.algorithm = symm::Algorithm::original}, {.algorithm = symm::Algorithm::baseline}};
  const std::vector<symm::Options> overlapped = of_algorithm_5();
  all.insert(all.end(), overlapped.begin(), overlapped.end());
  for (const symm::Backend backend : {symm::Backend::mpi, symm::Backend::plait}) {
    for (const int strands : {1, 4})
      all.push_back({.algorithm = symm::Algorithm::cannon, .backend = backend, .strands = strands});
  }
  all.push_back({.algorithm = symm::Algorithm::mirrored});
  return all;
}

std::vector<symm::Options> few_ways() {
  return {{.algorithm = symm::Algorithm::original},
          {.algorithm = symm::Algorithm::overlapped, .backend = symm::Backend::mpi, .strands = 2},
          {.algorithm = symm::Algorithm::cannon, .strands = 2},
          {.algorithm = symm::Algorithm::mirrored}};
}

/// What goes from node to node; from rank to rank, where there is but one node.
bench::NodeVolume volume(const mpi::Context& context, Index n, const symm::Options& options) {
  const symm::Options all = dense::symm::complete(context.size(), n, options);
  const auto transfers = bench::symm_transfers_of_square_cube(dense::symm::grid_of(n, all), all, Index{sizeof(double)});
  const bool is_one_node = context.topology().nodes() == 1;
  return bench::node_volume(is_one_node ? model::Placement{context.size(), 1} : context.placement(), transfers);
}

/// The one that takes least time, of two runs each.
symm::Options fastest(mpi::Context& context, Index n, const std::vector<symm::Options>& all) {
  std::pair<double, symm::Options> best{1e300, all.front()};
  for (const symm::Options& options : all) {
    Operands operands(context, n, options);
    operands.rewrite();
    operands.run();
    mpi::barrier(context.comm());
    const Stopwatch watch;
    operands.run();
    const double seconds = mpi::all_reduce(context.comm(), watch.seconds(), mpi::Operation::maximum());
    if (seconds < best.first) best = {seconds, options};
  }
  return best.second;
}

struct Setting {
  Index n;
  symm::Options options;
  std::vector<symm::Options> peers;  // of which the fastest counts
};

bench::Job set_up(mpi::Context& context, const Setting& setting) {
  bench::Job job;
  const Stopwatch watch;
  const auto operands = std::make_shared<Operands>(context, setting.n, setting.options);
  job.setup_seconds = watch.seconds();
  const symm::Options peer_options =
      setting.peers.size() > 1 ? fastest(context, setting.n, setting.peers) : setting.peers.front();
  const auto peer = std::make_shared<Operands>(context, setting.n, peer_options);
  const auto peer_was_last = std::make_shared<bool>(false);
  job.rewrite = [=] { operands->rewrite(), peer->rewrite(); };
  job.run = [=] { *peer_was_last = false, operands->run(); };
  job.peer = bench::Contender{name(peer_options), [=] { *peer_was_last = true, peer->run(); }};
  job.wrong_elements = [=] { return *peer_was_last ? peer->wrong_elements() : operands->wrong_elements(); };
  const Index bytes = volume(context, setting.n, setting.options).busiest_bytes();
  if (const char* rate = std::getenv("PLAIT_CLUSTER_RATE")) {
    const double bits_per_second = std::strtod(rate, nullptr);
    job.limits = {bench::known_time(fmt::format("link, {:g} Gb/s", bits_per_second / 1e9),
                                    8 * static_cast<double>(bytes) / bits_per_second)};
  } else {
    job.limits = {bench::ping_pong_limit(context, std::max<Index>(bytes, 1))};
  }
  return job;
}

bench::Case make_case(mpi::Context& context, const Setting& setting, const std::string& where) {
  const bool has_several_nodes = context.topology().nodes() > 1;
  const Index between_nodes = has_several_nodes ? volume(context, setting.n, setting.options).total.bytes : 0;
  const double megabytes = static_cast<double>(between_nodes) / 1e6;
  const bool is_last = setting.peers.size() > 1;
  bench::Case result;
  result.name = fmt::format("{}{} n={} {:.3g}MB {}", name(setting.options), is_last ? " | alg5" : "", setting.n,
                            megabytes, where);
  result.set_up = [&context, setting] { return set_up(context, setting); };
  result.repetitions = {5, 10, 2};
  const bool has_nodes = context.topology().nodes() == context.size();
  if (!has_nodes || setting.options.algorithm != symm::Algorithm::mirrored) return result;
  if (is_last) {
    result.gate.speedup_over_peer = 1 / 1.03;
  } else if (context.size() == 27) {
    result.gate.speedup_over_peer = 1.5, result.aim.speedup_over_peer = 1.9;
  } else if (context.size() == 8) {
    result.gate.speedup_over_peer = 1.25, result.aim.speedup_over_peer = 1.6;
  }
  return result;
}

std::vector<bench::Case> cases(mpi::Context& context, bool quick) {
  const char* const rate = std::getenv("PLAIT_CLUSTER_RATE");
  const std::string where = fmt::format(
      "nodes={} ranks={}{} {}", context.topology().nodes(), context.size(),
      rate == nullptr ? "" : fmt::format(" rate={:g}mbit", std::strtod(rate, nullptr) / 1e6), bench::mpi_name());
  std::vector<bench::Case> result;
  for (const Index n : quick ? std::vector<Index>{50} : std::vector<Index>(sizes.begin(), sizes.end())) {
    for (const symm::Options& options : quick ? few_ways() : ways()) {
      result.push_back(make_case(context, {n, options, {{.algorithm = symm::Algorithm::baseline}}}, where));
    }
    if (!quick)
      result.push_back(make_case(context, {n, {.algorithm = symm::Algorithm::mirrored}, of_algorithm_5()}, where));
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_benchmark(
      argc, argv,
      {"symm",
       "The square and the cube of a symmetric matrix of doubles on a cube of ranks: Algorithms 3 and 4 of Huang and "
       "Chow by the MPI library's blocking collectives, 5 and 6 by its non-blocking ones in N strands (mpi*N) or by "
       "plait's pipelined chains (chains*N), and plait's own algorithm (ours). The peer is Algorithm 4, and of the "
       "last case the fastest of Algorithm 5. The limit is the time in which what the busiest node sends or receives "
       "passes its link: the fraction of it is the share of the link's bandwidth that is used. MB are those between "
       "nodes by the formulas, which what plait sends is held to",
       {8},
       cases,
       "200mbit"});
}
