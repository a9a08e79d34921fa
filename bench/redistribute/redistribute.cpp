// A ← alpha·op(B) + beta·A between two layouts, against memcpy (every rank copies its local array once) and ScaLAPACK.
// What is measured is listed in bench/redistribute/redistribute_cases.cpp.
//
//   ./dev bench redistribute                                    on 1, 2 and 4 ranks
//   mpirun -n 2 build/openmpi/bin/bench_redistribute --quick    by hand

#include <omp.h>

#include <memory>
#include <utility>
#include <vector>

#include "plait/base/stopwatch.hpp"
#include "plait/redistribute/redistribution.hpp"

#include "bench/harness/benchmark.hpp"
#include "bench/peers/scalapack.hpp"
#include "bench/redistribute/moved_matrix.hpp"
#include "bench/redistribute/redistribute_cases.hpp"

namespace {

using namespace plait;
using bench::RedistributeCase;

bench::Job set_up(mpi::Context& context, const RedistributeCase& setting, int threads) {
  omp_set_num_threads(threads);
  const auto& [name, from, to, op, details] = setting.transfer;
  const auto matrix = std::make_shared<bench::MovedMatrix>(context, from, to, op, setting.form);
  const Stopwatch watch;
  const auto plan = std::make_shared<redistribute::Redistribution>(
      context, from, to, op, redistribute::Options{.within_node = setting.within_node});
  bench::Job job;
  job.setup_seconds = watch.seconds();
  job.rewrite = [=] { matrix->rewrite(); };
  job.run = [=] { matrix->move_by(*plan); };
  job.limits = matrix->limits();
  job.peer = bench::scalapack(context.comm().handle(), *matrix);
  job.wrong_elements = [=] { return matrix->wrong_elements(); };
  return job;
}

std::vector<bench::Case> cases(mpi::Context& context, bool quick) {
  const int usual_threads = omp_get_max_threads();
  std::vector<bench::Case> result;
  for (const RedistributeCase& setting : bench::redistribute_cases(context.size(), quick)) {
    const int threads = setting.threads.value_or(usual_threads);
    result.push_back({.name = setting.name(context.size()),
                      .gate = setting.gate,
                      .aim = setting.aim,
                      .set_up = [&context, setting, threads] { return set_up(context, setting, threads); },
                      .repetitions = setting.repetitions});
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_benchmark(
      argc, argv,
      {"redistribute",
       "Moves a matrix of doubles between block-cyclic layouts on the process grids from>to (2x2c: numbered by "
       "columns), from 32 x 32 into 128 x 128 blocks unless others are named, or from and into irregular tiles of any "
       "owners (custom); as it is (gemr2d) or transposed (tran), multiplied where alpha is named, and added to the old "
       "values where beta is. Arrays are stored by columns without gaps, unless a storage order or a leading dimension "
       "(ld) is named; in ordinary memory, but where it is shared by the ranks of the node. Within a node data goes "
       "through slots in shared memory, unless as plain messages. Each rank has one thread, unless more are named",
       {1, 2, 4},
       cases});
}
