#include "plait/simd/sweep/distance_reference.hpp"

#include <cmath>

#include "plait/simd/sweep/distance_kernels.hpp"

namespace plait::simd {

namespace {

template <class A, class Term, class Finish>
void distances(RowBlock<const A> x, const A* y, Index panels, RowBlock<A> d, Term term, Finish finish) {
  for (Index i = 0; i < x.rows; ++i) {
    const A* point = x.data + i * x.leading_dimension;
    for (Index j = 0; j < panels * panel_points; ++j) {
      const A* other = y + j / panel_points * panel_points * x.columns + j % panel_points;
      A sum{0};
      for (Index k = 0; k < x.columns; ++k) sum += term(point[k] - other[k * panel_points]);
      d.data[i * d.leading_dimension + j] = finish(sum);
    }
  }
}

}  // namespace

template <class A>
void squared_distances_reference(RowBlock<const A> x, const A* y, Index panels, RowBlock<A> d) {
  distances(x, y, panels, d, [](A t) { return t * t; }, [](A sum) { return sum; });
}

template <class A>
void euclidean_distances_reference(RowBlock<const A> x, const A* y, Index panels, RowBlock<A> d) {
  distances(x, y, panels, d, [](A t) { return t * t; }, [](A sum) { return std::sqrt(sum); });
}

template <class A>
void cityblock_distances_reference(RowBlock<const A> x, const A* y, Index panels, RowBlock<A> d) {
  distances(x, y, panels, d, [](A t) { return std::abs(t); }, [](A sum) { return sum; });
}

#define PLAIT_INSTANTIATE(A)                                                            \
  template decltype(squared_distances_reference<A>) squared_distances_reference<A>;     \
  template decltype(euclidean_distances_reference<A>) euclidean_distances_reference<A>; \
  template decltype(cityblock_distances_reference<A>) cityblock_distances_reference<A>
PLAIT_INSTANTIATE(double);
PLAIT_INSTANTIATE(float);
#undef PLAIT_INSTANTIATE

}  // namespace plait::simd
