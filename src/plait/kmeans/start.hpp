#pragma once

#include <cstdint>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/kmeans/points.hpp"

/// Centres to begin with. Numbers are drawn by counter, so that they depend on the points and the seed alone.
namespace plait::kmeans {

/// Points that are far from each other: 2 + log(clusters) candidates are drawn each time, with a probability that is
/// proportional to the squared distance to the nearest one so far, and the one taken leaves the least sum of squared
/// distances. `clusters` rows; the same on all ranks. Collective.
///
/// \throws ArgumentError  on all ranks: fewer distinct points than clusters, or less than one cluster
///
/// Source: Arthur, Vassilvitskii, "k-means++: the advantages of careful seeding", SODA 2007.
template <class T>
[[nodiscard]] std::vector<T> spread_centres(const Points<T>& points, Index clusters, std::uint64_t seed);

/// Points in different rows, each as probable as any. Otherwise the same; points may be the same.
///
/// \throws ArgumentError  on all ranks: fewer points than clusters, or less than one cluster
template <class T>
[[nodiscard]] std::vector<T> random_centres(const Points<T>& points, Index clusters, std::uint64_t seed);

/// \throws ArgumentError  there are less than one cluster, more than points, or 2^24 or more
void expect_clusters(Index clusters, Index points);

}  // namespace plait::kmeans
