#include "plait/dense/blas/blas_threads.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>

#include "plait/mpi/collectives.hpp"

// Null where the library has none of them.
extern "C" {
__attribute__((weak)) int openblas_get_num_threads();
__attribute__((weak)) void openblas_set_num_threads(int);
__attribute__((weak)) long bli_thread_get_num_threads();  // of BLIS' integers, which are 64 bits long
__attribute__((weak)) void bli_thread_set_num_threads(long);
__attribute__((weak)) int MKL_Get_Max_Threads();
__attribute__((weak)) void MKL_Set_Num_Threads(int);
}

namespace plait::dense {

namespace {

bool user_decides() {
  constexpr std::array names{"OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"};
  return std::ranges::any_of(names, [](const char* name) { return std::getenv(name) != nullptr; });
}

/// 0 where it is not known.
int threads() {
  if (openblas_get_num_threads != nullptr) return openblas_get_num_threads();
  if (bli_thread_get_num_threads != nullptr) return static_cast<int>(bli_thread_get_num_threads());
  if (MKL_Get_Max_Threads != nullptr) return MKL_Get_Max_Threads();
  return 0;
}

void use_threads(int count) {
  if (openblas_set_num_threads != nullptr) {
    openblas_set_num_threads(count);
  } else if (bli_thread_set_num_threads != nullptr) {
    bli_thread_set_num_threads(count);
  } else if (MKL_Set_Num_Threads != nullptr) {
    MKL_Set_Num_Threads(count);
  }
}

}  // namespace

BlasThreads::BlasThreads(int most) {
  if (user_decides()) return;
  const int now = threads();
  if (now <= most) return;
  use_threads(most);
  before_ = now;
}

BlasThreads::~BlasThreads() {
  if (before_ > 0) use_threads(before_);
}

int share_of_cores(const mpi::Context& context) {
  std::array<int, CPU_SETSIZE> claims{};  // how many ranks of the node may run on a core
  cpu_set_t own;
  CPU_ZERO(&own);
  if (sched_getaffinity(0, sizeof(own), &own) == 0) {
    for (std::size_t core = 0; core < claims.size(); ++core) claims[core] = CPU_ISSET(core, &own) ? 1 : 0;
  }
  mpi::all_reduce(context.topology().node(), claims, mpi::Operation::sum());
  double share = 0.01;  // for rounding
  for (std::size_t core = 0; core < claims.size(); ++core) {
    if (CPU_ISSET(core, &own)) share += 1.0 / claims[core];
  }
  return std::max(1, static_cast<int>(share));
}

}  // namespace plait::dense
