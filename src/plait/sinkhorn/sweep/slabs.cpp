#include "plait/sinkhorn/sweep/slabs.hpp"

#include <omp.h>

namespace plait::sinkhorn {

template <class A>
Slab<A> Slabs<A>::slab_of(Index k, std::size_t problems) {
  const auto thread = static_cast<std::size_t>(omp_get_thread_num());
  const Index first = k * rows_of_slab_;
  return {first, std::min(rows_of_slab_, rows_ - first), thread,
          std::span(memory_).subspan(thread * stride_, problems * columns_),
          std::span(swept_).subspan(thread * (swept_.size() / static_cast<std::size_t>(threads_)), problems)};
}

template <class A>
void Slabs<A>::add(const Slab<A>& slab, std::size_t problem, const SumsOfSlabs<A>& into) {
  const auto sums = slab.sums(problem);
  for (std::size_t j = 0; j < sums.size(); ++j) into.sums[j] += sums[j];
  into.swept.unreached += slab.swept[problem].unreached;
  into.swept.wanted += slab.swept[problem].wanted;
}

template class Slabs<double>;
template class Slabs<float>;

}  // namespace plait::sinkhorn
