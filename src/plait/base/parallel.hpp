#pragma once

#include <omp.h>

#include <exception>

#include "plait/base/index.hpp"
#include "plait/base/rounding.hpp"

namespace plait {

/// What is thrown in a parallel region or task of OpenMP, which it must not leave: the first of it is thrown after it.
class Thrown {
 public:
  template <class F>
  void caught(F&& f) noexcept {
    try {
      f();
    } catch (...) {
#pragma omp critical(plait_thrown)
      if (!first_) first_ = std::current_exception();
    }
  }
  void rethrow() const {
    if (first_) std::rethrow_exception(first_);
  }

 private:
  std::exception_ptr first_;
};

/// How many threads share the work on so many elements: OpenMP's, or one where these are few or threads share already.
[[nodiscard]] inline int threads_of(Index elements) {
  constexpr Index least_parallel = 1 << 14;
  return elements < least_parallel || omp_in_parallel() != 0 ? 1 : omp_get_max_threads();
}

/// Calls f(thread, begin, end) with the share of [0, elements) of each thread.
template <class F>
void in_shares(Index elements, int threads, F&& f) {
  Thrown thrown;
#pragma omp parallel for schedule(static, 1) num_threads(threads) if (threads > 1)
  for (int thread = 0; thread < threads; ++thread) {
    thrown.caught([&] { f(thread, portion(elements, thread, threads), portion(elements, thread + 1, threads)); });
  }
  thrown.rethrow();
}

/// Calls f(i) for each step-th i from `begin` to below `end`, as tasks that the threads share. What f does in tasks of
/// its own they share as well.
template <class F>
void in_tasks(int begin, int end, int step, F&& f) {
  Thrown thrown;
#pragma omp parallel
#pragma omp single
  for (int i = begin; i < end; i += step) {
#pragma omp task firstprivate(i) if (omp_get_num_threads() > 1)
    thrown.caught([&] { f(i); });
  }
  thrown.rethrow();
}

}  // namespace plait
