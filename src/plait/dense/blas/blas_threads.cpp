#include "plait/dense/blas/blas_threads.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <cstdlib>

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

BlasOnNode::BlasOnNode(const mpi::Context& context, bool works, int most) {
  const int now = threads();
  if (!works || now == 0 || user_decides()) return;
  const cpu_set_t& all = context.topology().cores_of_node();
  cpu_set_t own;
  const int wanted = std::min(CPU_COUNT(&all), most);
  if (wanted <= now || sched_getaffinity(0, sizeof(own), &own) != 0) return;
  // Threads that BLAS starts from now on are bound as this one, and stay so.
  if (sched_setaffinity(0, sizeof(all), &all) != 0) return;
  own_ = own;
  before_ = now;
  use_threads(wanted);
}

BlasOnNode::~BlasOnNode() {
  if (before_ > 0) use_threads(before_);
  if (own_) sched_setaffinity(0, sizeof(*own_), &*own_);
}

}  // namespace plait::dense
