// A ← B and A ← Bᵀ over a network, against an exchange of as many bytes as the busiest rank sends or receives; and what
// relabeling saves, of one matrix and of all that a multiplication moves, against the same without it. Figures count
// where each rank has a node:
//
//   ./dev bench network                                    on 4 nodes of the emulated cluster, with links of 1 Gb/s
//   mpirun -n 4 build/openmpi/bin/bench_network --quick    by hand: within the machine it only checks that all is right

#include <cstdlib>
#include <functional>
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
#include "plait/redistribute/relabel/relabel.hpp"

#include "bench/harness/benchmark.hpp"
#include "bench/harness/exchange_limit.hpp"
#include "bench/redistribute/moved_matrix.hpp"
#include "bench/redistribute/multiplication_operands.hpp"
#include "bench/redistribute/transfer.hpp"

namespace {

using namespace plait;
using layout::GridOrder;
using layout::Layout;
using layout::Owners;
using redistribute::Op;

constexpr int ranks = 4;              // on 2 x 2
constexpr double least_share = 0.90;  // of the link's speed, and of the speedup that the saved volume promises

double to_double(Index value) { return static_cast<double>(value); }

/// What one rank does.
struct Work {
  std::function<void()> rewrite;
  std::function<void()> move;
  std::function<Index()> wrong_elements;
};

/// What is moved, as it is or relabeled.
struct Setting {
  std::string name;
  bool relabels;
  std::function<Index(bool relabeled)> busiest_bytes;  // what the rank that sends or receives most does of it
  std::function<Work(mpi::Context& context, bool relabeled)> set_up;
};

Layout relabeled_target(const bench::Transfer& transfer) {
  const redistribute::SizedPair pair{{transfer.from, transfer.to, transfer.op}, Index{sizeof(double)}};
  return transfer.to.relabeled(redistribute::relabel({&pair, 1}, ranks).rank_of);
}

Setting one_matrix(const bench::Transfer& transfer, bool relabels = false) {
  const auto target = [=](bool relabeled) { return relabeled ? relabeled_target(transfer) : transfer.to; };
  const auto bytes = [=](bool relabeled) {
    const redistribute::SizedPair pair{{transfer.from, target(relabeled), transfer.op}, Index{sizeof(double)}};
    redistribute::Incoming incoming({&pair, 1});
    return redistribute::communication_volume(incoming).largest_rank_bytes;
  };
  const auto set_up = [=](mpi::Context& context, bool relabeled) -> Work {
    const Layout to = target(relabeled);
    const auto matrix = std::make_shared<bench::MovedMatrix>(context, transfer.from, to, transfer.op);
    const auto plan = std::make_shared<redistribute::Redistribution>(context, transfer.from, to, transfer.op);
    return {[=] { matrix->rewrite(); }, [=] { matrix->move_by(*plan); }, [=] { return matrix->wrong_elements(); }};
  };
  return {transfer.name, relabels, bytes, set_up};
}

Setting multiplication(Index rows, Index columns) {
  const bench::Multiplication plain = bench::tall_multiplication(rows, columns);
  const auto moves = [=](bool relabeled) { return relabeled ? plain.relabeled() : plain; };
  const auto set_up = [=](mpi::Context& context, bool relabeled) -> Work {
    const auto operands = std::make_shared<bench::MultiplicationOperands>(context, moves(relabeled));
    return {[=] { operands->rewrite(); }, [=] { operands->move(); }, [=] { return operands->wrong_elements(); }};
  };
  return {fmt::format("multiply f64 {}x{}", rows, columns), true,
          [=](bool relabeled) { return moves(relabeled).busiest_bytes(); }, set_up};
}

/// In bits per second, where this runs on the emulated cluster.
std::optional<double> link_rate() {
  const char* rate = std::getenv("PLAIT_CLUSTER_RATE");
  return rate == nullptr ? std::nullopt : std::optional(std::strtod(rate, nullptr));
}

/// With the redistribution that is not relabeled as the peer of the one that is.
void compare_with_plain(mpi::Context& context, const Setting& setting, bench::Job& job) {
  const Work plain = setting.set_up(context, false);
  const auto plain_was_last = std::make_shared<bool>(false);
  job.rewrite = [=, rewrite = job.rewrite] { rewrite(), plain.rewrite(); };
  job.run = [=, run = job.run] { *plain_was_last = false, run(); };
  job.peer = bench::Contender{"not relabeled", [=] { *plain_was_last = true, plain.move(); }};
  job.wrong_elements = [=, wrong_elements = job.wrong_elements] {
    return *plain_was_last ? plain.wrong_elements() : wrong_elements();
  };
}

bench::Job set_up(mpi::Context& context, const Setting& setting) {
  const Stopwatch watch;
  const Work work = setting.set_up(context, setting.relabels);
  bench::Job job;
  job.setup_seconds = watch.seconds();
  job.rewrite = work.rewrite;
  job.run = work.move;
  job.wrong_elements = work.wrong_elements;
  const Index bytes = setting.busiest_bytes(setting.relabels);
  job.limits = {bench::exchange_limit(context.comm().handle(), bytes)};
  if (const auto rate = link_rate())
    job.limits.push_back(
        bench::known_time(fmt::format("link, {:g} Gb/s", *rate / 1e9), 8.0 * to_double(bytes) / *rate));
  if (setting.relabels) compare_with_plain(context, setting, job);
  return job;
}

bench::Case make_case(mpi::Context& context, const Setting& setting) {
  const Index before = setting.busiest_bytes(false);
  const Index after = setting.busiest_bytes(setting.relabels);
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
  const auto of_grids = [&](Op op) { return one_matrix(bench::between_grids(op, extent, {2, 2}, {2, 2}).transfer()); };
  std::vector<Setting> settings{
      of_grids(Op::identity),
      of_grids(Op::transpose),
      one_matrix({"gemr2d " + shape + " rows>cols", rows, columns}),
      one_matrix({"tran " + shape + " rows>rows", rows, rows, Op::transpose}),
  };
  // From ranks numbered by rows to ranks numbered by columns. The nearer the blocks, the more need not move.
  const Index to_block = extent / 2;
  for (const Index percent : {90, 125, 110}) {
    const Index from_block = to_block * percent / 100;
    settings.push_back(one_matrix({fmt::format("relabel {} {}>{}", shape, from_block, to_block),
                                   blocks_of(from_block, extent), blocks_of(to_block, extent, GridOrder::column)},
                                  true));
  }
  settings.push_back(multiplication(4 * extent, extent / 8));
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
       "(2x2>2x2), from whole rows to whole columns or rows, as it is (gemr2d) or transposed (tran); and, against the "
       "same without relabeling, from blocks on a 2 x 2 grid numbered by rows to others on one numbered by columns "
       "(relabel), and what a multiplication of two tall matrices moves that computes in layouts of its own: both of "
       "them there, in one exchange, and the small product back (multiply). MB are those of the rank that sends or "
       "receives most, before>after relabeling",
       {ranks},
       cases,
       "1gbit"});
}
