// A ← B and A ← Bᵀ over a network, against an exchange of as many bytes as the busiest rank sends or receives; and what
// relabeling saves, against the same redistribution without it. Figures count where each rank has a node:
//
//   ./dev bench network                                    on 4 nodes of the emulated cluster, with links of 1 Gb/s
//   mpirun -n 4 build/openmpi/bin/bench_network --quick    by hand: within the machine it only checks that all is right

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/base/stopwatch.hpp"
#include "plait/layout/layout.hpp"
#include "plait/redistribute/communication_volume.hpp"
#include "plait/redistribute/redistribution.hpp"
#include "plait/redistribute/relabel.hpp"

#include "bench/between_grids.hpp"
#include "bench/harness/benchmark.hpp"
#include "bench/harness/exchange_limit.hpp"
#include "bench/moved_matrix.hpp"

namespace {

using namespace plait;
using layout::GridOrder;
using layout::Layout;
using layout::Owners;
using redistribute::Op;

constexpr int ranks = 4;              // on 2 x 2
constexpr double least_share = 0.90;  // of the link's speed, and of the speedup that the saved volume promises

double to_double(Index value) { return static_cast<double>(value); }

struct Setting {
  std::string name;
  Layout from;
  Layout to;
  Op op = Op::identity;
  bool relabels = false;
};

/// The rank that plays each role of the target.
std::vector<int> roles_of(const Setting& setting) {
  const redistribute::SizedPair pair{{setting.from, setting.to, setting.op}, Index{sizeof(double)}};
  return redistribute::relabel({&pair, 1}, ranks).rank_of;
}

/// What the rank that sends or receives most does of it.
Index busiest_bytes(const Setting& setting, const Layout& to) {
  const redistribute::SizedPair pair{{setting.from, to, setting.op}, Index{sizeof(double)}};
  redistribute::Incoming incoming({&pair, 1});
  return redistribute::communication_volume(incoming).largest_rank_bytes;
}

Layout target_of(const Setting& setting) {
  return setting.relabels ? setting.to.relabeled(roles_of(setting)) : setting.to;
}

/// In bits per second, where this runs on the emulated cluster.
std::optional<double> link_rate() {
  const char* rate = std::getenv("PLAIT_CLUSTER_RATE");
  return rate == nullptr ? std::nullopt : std::optional(std::strtod(rate, nullptr));
}

/// Operands and plan on one rank.
struct Redistributed {
  Redistributed(mpi::Context& context, const Setting& setting, const Layout& to)
      : matrix(context.rank(), setting.from, to, setting.op), plan(context, setting.from, to, setting.op) {}

  bench::MovedMatrix matrix;
  redistribute::Redistribution plan;
};

/// With the redistribution that is not relabeled as the peer of the one that is.
void compare_with_plain(mpi::Context& context, const Setting& setting, bench::Job& job) {
  const auto plain = std::make_shared<Redistributed>(context, setting, setting.to);
  const auto plain_was_last = std::make_shared<bool>(false);
  job.rewrite = [=, rewrite = job.rewrite] { rewrite(), plain->matrix.rewrite(); };
  job.run = [=, run = job.run] { *plain_was_last = false, run(); };
  job.peer = bench::Contender{"not relabeled", [=] { *plain_was_last = true, plain->matrix.move_by(plain->plan); }};
  job.wrong_elements = [=, wrong_elements = job.wrong_elements] {
    return *plain_was_last ? plain->matrix.wrong_elements() : wrong_elements();
  };
}

bench::Job set_up(mpi::Context& context, const Setting& setting) {
  const Stopwatch watch;
  const Layout to = target_of(setting);
  const auto moved = std::make_shared<Redistributed>(context, setting, to);
  bench::Job job;
  job.setup_seconds = watch.seconds();
  job.rewrite = [=] { moved->matrix.rewrite(); };
  job.run = [=] { moved->matrix.move_by(moved->plan); };
  job.wrong_elements = [=] { return moved->matrix.wrong_elements(); };
  const Index bytes = busiest_bytes(setting, to);
  job.limits = {bench::exchange_limit(context.comm().handle(), bytes)};
  if (const auto rate = link_rate())
    job.limits.push_back(
        bench::known_time(fmt::format("link, {:g} Gb/s", *rate / 1e9), 8.0 * to_double(bytes) / *rate));
  if (setting.relabels) compare_with_plain(context, setting, job);
  return job;
}

bench::Case make_case(mpi::Context& context, const Setting& setting) {
  const Index before = busiest_bytes(setting, setting.to);
  const Index after = busiest_bytes(setting, target_of(setting));
  const auto megabytes = [](Index bytes) { return fmt::format("{:.3g}", to_double(bytes) / 1e6); };
  bench::Case result;
  result.name = fmt::format("{} {}MB ranks={}", setting.name,
                            setting.relabels ? megabytes(before) + ">" + megabytes(after) : megabytes(after), ranks);
  if (context.topology().nodes() == ranks) {
    result.gate.fraction_of_limit = least_share;
    if (setting.relabels) result.gate.speedup_over_peer = least_share * to_double(before) / to_double(after);
  }
  result.set_up = [&context, setting] { return set_up(context, setting); };
  return result;
}

/// Blocks on 2 x 2 ranks.
Layout blocks_of(Index block, Index extent, GridOrder order = GridOrder::row) {
  return Layout::block_cyclic({extent, extent}, block, block, Owners::grid(2, 2, order));
}

std::vector<bench::Case> cases(mpi::Context& context, bool quick) {
  if (context.size() != ranks)
    throw ArgumentError(fmt::format("started on {} ranks, expected {}", context.size(), ranks));
  const Index extent = quick ? 200 : 4000;
  const auto shape = fmt::format("f64 {0}x{0}", extent);
  const Layout rows = Layout::rows({extent, extent}, ranks, StorageOrder::column_major);
  const Layout columns = Layout::columns({extent, extent}, ranks);
  const auto of_grids = [&](Op op) -> Setting {
    const bench::BetweenGrids move{op, extent, {2, 2}, {2, 2}};
    return {move.name(), move.source(), move.target(), op};
  };
  std::vector<Setting> settings{
      of_grids(Op::identity),
      of_grids(Op::transpose),
      {"gemr2d " + shape + " rows>cols", rows, columns},
      {"tran " + shape + " rows>rows", rows, rows, Op::transpose},
  };
  // From ranks numbered by rows to ranks numbered by columns. The nearer the blocks, the more need not move.
  const Index to_block = extent / 2;
  for (const Index percent : {90, 125, 110}) {
    const Index from_block = to_block * percent / 100;
    settings.push_back({fmt::format("relabel {} {}>{}", shape, from_block, to_block), blocks_of(from_block, extent),
                        blocks_of(to_block, extent, GridOrder::column), Op::identity, true});
  }
  std::vector<bench::Case> result;
  for (const Setting& setting : settings) result.push_back(make_case(context, setting));
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_benchmark(
      argc, argv,
      {"network",
       "Moves a square matrix of doubles between 4 nodes of the emulated cluster: from 32 x 32 into 128 x 128 blocks "
       "(2x2>2x2), from whole rows to whole columns or rows, as it is (gemr2d) or transposed (tran); and, relabeled, "
       "from blocks on a 2 x 2 grid numbered by rows to others on one numbered by columns, against the same without "
       "relabeling. MB are those of the rank that sends or receives most, before>after relabeling",
       {ranks},
       cases,
       "1gbit"});
}
