#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/mpi/context.hpp"

#include "bench/harness/measure.hpp"
#include "bench/harness/record.hpp"

namespace plait::bench {

/// What one rank does in a case; the functions own the memory that they use.
struct Job {
  /// Writes all operands, results too: an old result must not pass for a new one. Local, not timed.
  std::function<void()> rewrite;
  /// What is measured. Collective.
  std::function<void()> run;
  /// What bounds it, one at least: the fastest one counts.
  std::vector<Contender> limits;
  /// Something that `run` can't do without either, such as executing its instructions: counts instead of a limit that
  /// takes less.
  std::optional<Contender> floor;
  /// Another program that does the same to the same operands. Collective.
  std::optional<Contender> peer;
  /// What is timed and written down beside them, but compared with nothing.
  std::vector<Contender> others = {};
  /// How many elements of this rank's result are wrong after `run`, and after the peer's. Local.
  std::function<Index()> wrong_elements;
  /// What the last result costs, such as the cut of a partition: asked once for plait, the peer and the others. The
  /// same on all ranks.
  std::function<double()> cost = {};
  /// How many times the job is done by each call of `run`, a limit or the peer: times are of one.
  int instances = 1;
  /// What plait took to set up what `run` uses again and again, such as a plan.
  double setup_seconds = 0;
};

struct Case {
  std::string name;             // with ranks=P in it
  Goal gate;                    // where every rank has a core
  Goal aim;                     // anywhere
  std::function<Job()> set_up;  // collective
  Repetitions repetitions = {};
  /// Names of cases before it whose geometric mean it is, instead of a job of its own. Left out if one of them was not
  /// measured.
  std::vector<std::string> mean_of = {};
};

struct Benchmark {
  std::string name;
  std::string description;
  std::vector<int> ranks;  // the numbers of ranks that make up a whole run of it
  /// The cases for as many ranks as the context has; small ones, some seconds in all, for a quick run.
  std::function<std::vector<Case>(mpi::Context& context, bool quick)> cases;
  /// Of the links, such as "1gbit", if each rank wants a node of the emulated cluster for itself; else empty.
  std::string link_rate = {};
  /// Whether MPI is started as most programs start it, by MPI_Init: asked for any support of threads, even the least,
  /// Open MPI is slower in small calls.
  bool starts_mpi_plainly = false;
};

/// The main function of a benchmark: `return run_benchmark(argc, argv, benchmark);`
/// Returns the exit status: 1 where results were wrong or, if it was asked, a gate was missed; 2 for a usage error.
[[nodiscard]] int run_benchmark(int argc, char** argv, const Benchmark& benchmark);

}  // namespace plait::bench
