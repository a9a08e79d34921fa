#include "plait/dense/blas/blas_threads.hpp"

#include <sched.h>

#include <cstdlib>

#include <gtest/gtest.h>

#include "plait/mpi/collectives.hpp"

#include "support/ranks.hpp"

extern "C" {
__attribute__((weak)) int openblas_get_num_threads();
__attribute__((weak)) void openblas_set_num_threads(int);
}

namespace plait::test {
namespace {

TEST(BlasThreads, RanksOfANodeTakeNoMoreCoresThanThereAre) {
  const mpi::Context context(test_comm());
  const int share = context.topology().share_of_cores();
  EXPECT_GE(share, 1);
  cpu_set_t own;
  CPU_ZERO(&own);
  ASSERT_EQ(sched_getaffinity(0, sizeof(own), &own), 0);
  EXPECT_LE(share, CPU_COUNT(&own));
  cpu_set_t of_any;
  CPU_ZERO(&of_any);
  for (const cpu_set_t& one : mpi::all_gather(context.comm(), own)) CPU_OR(&of_any, &of_any, &one);
  const int together = mpi::all_reduce(context.comm(), share, mpi::Operation::sum());
  EXPECT_LE(together, CPU_COUNT(&of_any) + ranks() - 1);  // a rank has one at least
}

TEST(BlasThreads, AreFewWhileNeededAndThenAsBefore) {
  if (openblas_get_num_threads == nullptr) return;  // another BLAS
  for (const char* name : {"OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"}) {
    unsetenv(name);
  }
  const int before = openblas_get_num_threads();
  openblas_set_num_threads(2);
  {
    const dense::BlasThreads few(1);
    EXPECT_EQ(openblas_get_num_threads(), 1);
  }
  EXPECT_EQ(openblas_get_num_threads(), 2);
  setenv("OPENBLAS_NUM_THREADS", "2", 1);
  {
    const dense::BlasThreads few(1);
    EXPECT_EQ(openblas_get_num_threads(), 2);  // as the user says
  }
  openblas_set_num_threads(before);
  setenv("OPENBLAS_NUM_THREADS", "1", 1);
}

}  // namespace
}  // namespace plait::test
