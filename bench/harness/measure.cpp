#include "bench/harness/measure.hpp"

#include <mpi.h>

#include "plait/base/contract.hpp"
#include "plait/base/stopwatch.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/reduction.hpp"

namespace plait::bench {

namespace {

double seconds_of_slowest(const mpi::Communicator& comm, const Contender& contender) {
  // Not mpi::barrier, which may sleep: a rank that oversleeps would begin late.
  MPI_Barrier(comm.handle());
  const Stopwatch watch;
  contender.run();
  return mpi::all_reduce(comm, watch.seconds(), mpi::Operation::maximum());
}

}  // namespace

std::vector<std::vector<double>> measure(const mpi::Communicator& comm, std::span<const Contender> contenders,
                                         const std::function<void()>& rewrite, const Repetitions& repetitions) {
  PLAIT_ASSERT(repetitions.least >= 1, "there is a round");
  std::vector<std::vector<double>> samples(contenders.size());
  double timed = 0;
  for (int round = 0; round < repetitions.least || (round < repetitions.most && timed < repetitions.seconds); ++round) {
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      if (!contenders[i].run) {
        samples[i].push_back(contenders[i].seconds);
        continue;
      }
      rewrite();
      samples[i].push_back(seconds_of_slowest(comm, contenders[i]));
      timed += samples[i].back();
    }
  }
  return samples;
}

}  // namespace plait::bench
