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

/// How many ranks of the node may run on each core; `own` are those of this rank. Collective over the ranks of the
/// node.
std::array<int, CPU_SETSIZE> claimed_cores(const mpi::Context& context, cpu_set_t& own) {
  std::array<int, CPU_SETSIZE> claims{};
  CPU_ZERO(&own);
  if (sched_getaffinity(0, sizeof(own), &own) == 0) {
    for (std::size_t core = 0; core < claims.size(); ++core) claims[core] = CPU_ISSET(core, &own) ? 1 : 0;
  }
  mpi::all_reduce(context.topology().node(), claims, mpi::Operation::sum());
  return claims;
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

BlasOnNode::BlasOnNode(const mpi::Context& context, bool works) {
  cpu_set_t own;
  const auto claims = claimed_cores(context, own);
  const int now = threads();
  if (!works || now == 0 || user_decides()) return;
  cpu_set_t all;
  CPU_ZERO(&all);
  for (std::size_t core = 0; core < claims.size(); ++core) {
    if (claims[core] > 0) CPU_SET(core, &all);
  }
  // Threads that BLAS starts from now on are bound as this one, and stay so.
  if (CPU_COUNT(&all) <= now || sched_setaffinity(0, sizeof(all), &all) != 0) return;
  own_ = own;
  before_ = now;
  use_threads(CPU_COUNT(&all));
}

BlasOnNode::~BlasOnNode() {
  if (before_ > 0) use_threads(before_);
  if (own_) sched_setaffinity(0, sizeof(*own_), &*own_);
}

int share_of_cores(const mpi::Context& context) {
  cpu_set_t own;
  const auto claims = claimed_cores(context, own);
  double share = 0.01;  // for rounding
  for (std::size_t core = 0; core < claims.size(); ++core) {
    if (CPU_ISSET(core, &own)) share += 1.0 / claims[core];
  }
  return std::max(1, static_cast<int>(share));
}

}  // namespace plait::dense
