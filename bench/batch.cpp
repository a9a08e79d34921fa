// Three matrices in one exchange, against one redistribution after the other and against memcpy. All times are of one
// of the three. From 32 x 32 into 128 x 128 blocks of doubles, as in bench/redistribute.cpp.
//
//   ./dev bench batch                                    on 1, 2 and 4 ranks
//   mpirun -n 2 build/openmpi/bin/bench_batch --quick    by hand

#include "plait/redistribute/batch.hpp"

#include <deque>
#include <memory>
#include <optional>
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

namespace {

using namespace plait;
using bench::BetweenGrids;
using bench::Grid;
using redistribute::Op;

constexpr int instances = 3;

/// On one rank.
class Matrices {
 public:
  Matrices(mpi::Context& context, const BetweenGrids& setting) {
    const auto from = setting.source(), to = setting.target();
    for (int i = 0; i < instances; ++i) {
      matrices_.emplace_back(context.rank(), from, to, setting.op);
      plans_.emplace_back(context, from, to, setting.op);
    }
    const Stopwatch watch;
    batch_.emplace(context, std::vector<redistribute::MatrixPair>(instances, {from, to, setting.op}));
    setup_seconds_ = watch.seconds();
  }

  void rewrite() {
    for (auto& matrix : matrices_) matrix.rewrite();
  }
  void move_all() {
    std::vector<redistribute::Operands> operands;
    for (const auto& matrix : matrices_) operands.push_back(matrix.operands());
    batch_->execute(operands);
  }
  void move_one_by_one() {
    for (std::size_t i = 0; i < matrices_.size(); ++i) matrices_[i].move_by(plans_[i]);
  }
  [[nodiscard]] Index wrong_elements() const {
    Index wrong = 0;
    for (const auto& matrix : matrices_) wrong += matrix.wrong_elements();
    return wrong;
  }
  /// Limits of all of them.
  [[nodiscard]] std::vector<bench::Contender> limits() const {
    std::vector<bench::Contender> result;
    for (const auto& matrix : matrices_) {
      auto more = bench::memcpy_limits(reinterpret_cast<std::byte*>(matrix.target().data()),
                                       reinterpret_cast<const std::byte*>(matrix.source().data()),
                                       matrix.source().size() * Index{sizeof(double)});
      if (result.empty()) {
        result = std::move(more);
        continue;
      }
      for (std::size_t i = 0; i < result.size(); ++i) {
        result[i].run = [first = result[i].run, then = more[i].run] { first(), then(); };
      }
    }
    return result;
  }
  [[nodiscard]] double setup_seconds() const noexcept { return setup_seconds_; }

 private:
  std::deque<bench::MovedMatrix> matrices_;
  std::deque<redistribute::Redistribution> plans_;
  std::optional<redistribute::Batch> batch_;
  double setup_seconds_ = 0;
};

bench::Job set_up(mpi::Context& context, const BetweenGrids& setting) {
  const auto matrices = std::make_shared<Matrices>(context, setting);
  bench::Job job;
  job.instances = instances;
  job.rewrite = [=] { matrices->rewrite(); };
  job.run = [=] { matrices->move_all(); };
  job.limits = matrices->limits();
  job.peer = bench::Contender{"one by one", [=] { matrices->move_one_by_one(); }};
  job.wrong_elements = [=] { return matrices->wrong_elements(); };
  job.setup_seconds = matrices->setup_seconds();
  return job;
}

bench::Case make_case(mpi::Context& context, const BetweenGrids& setting) {
  bench::Case result;
  result.name = fmt::format("3 {} ranks={}", setting.name(), context.size());
  result.aim.speedup_over_peer = 1.0;
  result.set_up = [&context, setting] { return set_up(context, setting); };
  return result;
}

std::pair<Grid, Grid> grids_for(int ranks) {
  switch (ranks) {
    case 1: return {{1, 1}, {1, 1}};
    case 2: return {{2, 1}, {1, 2}};
    case 4: return {{2, 2}, {2, 2}};
    default: throw ArgumentError(fmt::format("started on {} ranks, expected 1, 2 or 4", ranks));
  }
}

std::vector<bench::Case> cases(mpi::Context& context, bool quick) {
  const std::vector<Index> extents = quick ? std::vector<Index>{100, 300} : std::vector<Index>{500, 2000, 8000};
  const auto [from, to] = grids_for(context.size());
  std::vector<bench::Case> result;
  for (const Op op : {Op::identity, Op::transpose}) {
    for (const Index extent : extents) result.push_back(make_case(context, {op, extent, from, to}));
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_benchmark(
      argc, argv,
      {"batch",
       "Moves three square matrices of doubles in one exchange, from 32 x 32 into 128 x 128 blocks (block-cyclic, on "
       "the "
       "process grids from>to), as they are (gemr2d) or transposed (tran); all times are of one of the three",
       {1, 2, 4},
       cases});
}
