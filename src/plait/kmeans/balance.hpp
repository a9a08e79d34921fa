#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/vector.hpp"
#include "plait/kmeans/points.hpp"

namespace plait::kmeans {

/// Clusters of which none has more than ⌈points / clusters⌉ points.
template <class T>
struct Pieces {
  std::vector<T> centres;       ///< the means, one after the other; the same on all ranks
  Vector<std::int32_t> labels;  ///< of this rank's points
  [[nodiscard]] RowBlock<const T> rows(Index dimension) const {
    return {centres.data(), static_cast<Index>(centres.size()) / dimension, dimension, dimension};
  }
};

/// Balances clusters: in turn, those with too many points keep the nearest ones, the first of several, and get no
/// others; each of their other points goes to the nearest centre that may still get some. Clusters that have points
/// keep some. The same whoever has which point. Collective.
///
/// \param labels  of this rank's points
/// \throws OutOfMemory  on all ranks, where one has too little
///
/// Source: You et al., "CA-SVM: communication-avoiding support vector machines on distributed systems", IPDPS 2015.
template <class T>
[[nodiscard]] Pieces<T> balanced(const Points<T>& points, RowBlock<const T> centres,
                                 std::span<const std::int32_t> labels);

/// The centre that is nearest to a point by distances in double precision, the first of several.
/// \param open  which may be chosen, one at least; empty: all
template <class T>
[[nodiscard]] Index nearest_centre(const T* point, RowBlock<const T> centres, std::span<const char> open = {});

}  // namespace plait::kmeans
