#include "plait/simd/nearest/nearest_reference.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace plait::simd {

template <class T>
void nearest_two_reference(const T* panel, RowBlock<const T> centres, T* least, T* place, T* second) {
  for (Index p = 0; p < nearest_points; ++p) {
    least[p] = second[p] = std::numeric_limits<T>::infinity();
    place[p] = 0;
    for (Index j = 0; j < centres.rows; ++j) {
      T d{0};
      for (Index c = 0; c < centres.columns; ++c) {
        const T t = panel[c * nearest_points + p] - centres.data[j * centres.leading_dimension + c];
        d += t * t;
      }
      second[p] = std::min(second[p], std::max(least[p], d));
      if (!(d < least[p])) continue;
      least[p] = d;
      place[p] = static_cast<T>(j);
    }
  }
}

template <class T>
void nearest_reference(const T* panel, RowBlock<const T> centres, T* least, T* place) {
  std::array<T, nearest_points> second;
  nearest_two_reference(panel, centres, least, place, second.data());
}

template <class T>
void own_reference(RowBlock<const T> x, const Index* rows, Index count, RowBlock<const T> centres,
                   const std::int32_t* of, T* d) {
  for (Index i = 0; i < count; ++i) {
    const T* point = x.data + rows[i] * x.leading_dimension;
    const T* centre = centres.data + of[i] * centres.leading_dimension;
    d[i] = 0;
    for (Index c = 0; c < x.columns; ++c) d[i] += (point[c] - centre[c]) * (point[c] - centre[c]);
  }
}

template <class T>
void narrow_reference(RowBlock<const T> x, const std::int32_t* rows, Index count, const T* origin, T scale,
                      float* panel) {
  for (Index p = 0; p < count; ++p) {
    const T* from = x.data + rows[p] * x.leading_dimension;
    for (Index c = 0; c < x.columns; ++c) {
      panel[c * nearest_points + p] = static_cast<float>((from[c] - origin[c]) * scale);
    }
  }
}

std::uint32_t nearest_bounds_reference(const float* panel, const NarrowCentres& centres, float* upper, float* lower,
                                       std::int32_t* place) {
  std::uint32_t unsure = 0;
  for (Index p = 0; p < nearest_points; ++p) {
    float square = 0;
    for (Index c = 0; c < centres.rows.columns; ++c)
      square += panel[c * nearest_points + p] * panel[c * nearest_points + p];
    float least = std::numeric_limits<float>::infinity(), second = least;
    place[p] = 0;
    for (Index j = 0; j < centres.rows.rows; ++j) {
      float d = centres.half[j];
      for (Index c = 0; c < centres.rows.columns; ++c) {
        d -= panel[c * nearest_points + p] * centres.rows.data[j * centres.rows.leading_dimension + c];
      }
      second = std::min(second, std::max(least, d));
      if (!(d < least)) continue;
      least = d;
      place[p] = static_cast<std::int32_t>(j);
    }
    upper[p] = square * (1 + 2 * centres.error) + (centres.slack[place[p]] + NarrowCentres::least) + 2 * least;
    lower[p] = square * (1 - 2 * centres.error) - NarrowCentres::least + 2 * second;
    if (!(upper[p] < lower[p])) unsure |= std::uint32_t{1} << p;
  }
  return unsure;
}

Index doubtful_reference(const MovedBounds& bounds, Index count, std::int32_t* doubtful) {
  Index found = 0;
  for (Index i = 0; i < count; ++i) {
    const float upper = bounds.upper[i] + bounds.moved[bounds.of[i]];
    const float margin = bounds.slack * (upper + bounds.lower[i]) + bounds.least;
    if (!(upper + margin < bounds.lower[i] - bounds.fall)) doubtful[found++] = static_cast<std::int32_t>(i);
  }
  return found;
}

#define PLAIT_INSTANTIATE(T)                                            \
  template decltype(nearest_two_reference<T>) nearest_two_reference<T>; \
  template decltype(nearest_reference<T>) nearest_reference<T>;         \
  template decltype(narrow_reference<T>) narrow_reference<T>;           \
  template decltype(own_reference<T>) own_reference<T>
PLAIT_INSTANTIATE(double);
PLAIT_INSTANTIATE(float);
#undef PLAIT_INSTANTIATE

}  // namespace plait::simd
