#include "plait/sinkhorn/sweep/slabs.hpp"

#include <omp.h>

namespace plait::sinkhorn {

template <class A>
Slab<A> Slabs<A>::slab_of(const SlabTurns::Turn& turn, std::size_t problems) {
  const Index first = turn.slab * rows_of_slab_;
  return {first, std::min(rows_of_slab_, rows_ - first), static_cast<std::size_t>(omp_get_thread_num()),
          std::span(memory_).subspan(turn.buffer * stride_, problems * columns_),
          std::span(swept_).subspan(turn.buffer * (swept_.size() / buffers_), problems)};
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
