// Three matrices in one exchange, against one redistribution after the other and against memcpy. All times are of one
// of the three. From 32 x 32 into 128 x 128 blocks of doubles, as in bench/redistribute/redistribute.cpp.
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

#include "plait/base/stopwatch.hpp"
#include "plait/redistribute/redistribution.hpp"

#include "bench/harness/benchmark.hpp"
#include "bench/redistribute/moved_matrix.hpp"
#include "bench/redistribute/transfer.hpp"

namespace {

using namespace plait;
using bench::Transfer;
using redistribute::Op;

constexpr int instances = 3;

/// On one rank.
class Matrices {
 public:
  Matrices(mpi::Context& context, const Transfer& transfer) {
    const auto& [name, from, to, op, details] = transfer;
    for (int i = 0; i < instances; ++i) {
      matrices_.emplace_back(context, from, to, op);
      plans_.emplace_back(context, from, to, op);
    }
    const Stopwatch watch;
    batch_.emplace(context, std::vector<redistribute::MatrixPair>(instances, {from, to, op}));
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
      auto more = matrix.limits();
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

bench::Job set_up(mpi::Context& context, const Transfer& transfer) {
  const auto matrices = std::make_shared<Matrices>(context, transfer);
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

bench::Case make_case(mpi::Context& context, const Transfer& transfer) {
  bench::Case result;
  result.name = fmt::format("3 {} ranks={}", transfer.name, context.size());
  result.aim.speedup_over_peer = 1.0;
  result.set_up = [&context, transfer] { return set_up(context, transfer); };
  return result;
}

std::vector<bench::Case> cases(mpi::Context& context, bool quick) {
  const std::vector<Index> extents = quick ? std::vector<Index>{100, 300} : std::vector<Index>{500, 2000, 8000};
  const auto [from, to] = bench::grids_for(context.size()).front();
  std::vector<bench::Case> result;
  for (const Op op : {Op::identity, Op::transpose}) {
    for (const Index extent : extents) {
      result.push_back(make_case(context, bench::between_grids(op, extent, from, to).transfer()));
    }
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_benchmark(
      argc, argv,
      {"batch",
       "Moves three square matrices of doubles in one exchange, from 32 x 32 into 128 x 128 blocks (block-cyclic, on "
       "the process grids from>to), as they are (gemr2d) or transposed (tran); all times are of one of the three",
       {1, 2, 4},
       cases});
}
