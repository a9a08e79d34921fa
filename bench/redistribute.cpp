// A ← B and A ← Bᵀ between block-cyclic layouts, 32 × 32 into 128 × 128 blocks of doubles, against memcpy (every rank
// copies its local array once) and against ScaLAPACK.
//
//   ./dev bench redistribute                                    on 1, 2 and 4 ranks
//   mpirun -n 2 build/openmpi/bin/bench_redistribute --quick    by hand

#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/base/stopwatch.hpp"
#include "plait/redistribute/redistribution.hpp"

#include "bench/between_grids.hpp"
#include "bench/harness/benchmark.hpp"
#include "bench/harness/memcpy_limit.hpp"
#include "bench/moved_matrix.hpp"
#include "bench/scalapack.hpp"

namespace {

using namespace plait;
using bench::BetweenGrids;
using bench::Grid;
using redistribute::Op;

bench::Job set_up(mpi::Context& context, const BetweenGrids& setting) {
  const auto matrix =
      std::make_shared<bench::MovedMatrix>(context.rank(), setting.source(), setting.target(), setting.op);
  const Stopwatch watch;
  const auto plan = std::make_shared<redistribute::Redistribution>(context, matrix->from(), matrix->to(), setting.op);
  bench::Job job;
  job.setup_seconds = watch.seconds();
  job.rewrite = [=] { matrix->rewrite(); };
  job.run = [=] { matrix->move_by(*plan); };
  job.limits = bench::memcpy_limits(reinterpret_cast<std::byte*>(matrix->target().data()),
                                    reinterpret_cast<const std::byte*>(matrix->source().data()),
                                    matrix->source().size() * Index{sizeof(double)});
  job.peer = bench::scalapack(context.comm().handle(), matrix->from(), matrix->to(), setting.op,
                              matrix->source().data(), matrix->target().data());
  job.wrong_elements = [=] { return matrix->wrong_elements(); };
  return job;
}

bench::Case make_case(mpi::Context& context, const BetweenGrids& setting) {
  bench::Case result;
  result.name = fmt::format("{} ranks={}", setting.name(), context.size());
  result.gate.speedup_over_peer = 1.0;
  if (setting.extent == 8000 && context.size() == 2) result.gate.fraction_of_limit = 0.30;
  // What a prototype came to that moved data through memory shared by the ranks.
  if (setting.extent == 8000) result.aim.fraction_of_limit = 0.80;
  result.set_up = [&context, setting] { return set_up(context, setting); };
  return result;
}

std::vector<std::pair<Grid, Grid>> grids_for(int ranks) {
  switch (ranks) {
    case 1: return {{{1, 1}, {1, 1}}};
    case 2: return {{{2, 1}, {1, 2}}, {{2, 1}, {2, 1}}};
    case 4: return {{{2, 2}, {2, 2}}};
    default: throw ArgumentError(fmt::format("started on {} ranks, expected 1, 2 or 4", ranks));
  }
}

std::vector<bench::Case> cases(mpi::Context& context, bool quick) {
  const std::vector<Index> extents = quick ? std::vector<Index>{100, 300} : std::vector<Index>{500, 2000, 8000};
  std::vector<bench::Case> result;
  for (const Op op : {Op::identity, Op::transpose}) {
    for (const auto& [from, to] : grids_for(context.size())) {
      for (const Index extent : extents) result.push_back(make_case(context, {op, extent, from, to}));
    }
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_benchmark(
      argc, argv,
      {"redistribute",
       "Moves a square matrix of doubles from 32 x 32 into 128 x 128 blocks (block-cyclic, on the process grids "
       "from>to), as it is (gemr2d) or transposed (tran)",
       {1, 2, 4},
       cases});
}
