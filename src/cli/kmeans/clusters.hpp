#pragma once

#include <string>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/kmeans/solver.hpp"
#include "plait/layout/shape.hpp"

namespace plait::cli {

/// Points at random places, from all ranks: whether their labels are right, and where they lie, for the page.
struct ClusterSample {
  Index coordinates = 0;
  std::vector<double> points;
  std::vector<double> centres;  // all of them
  std::vector<Index> labels;
  Index wrong = 0;  // points that have a nearer centre than their own, by more than rounding
};

/// Collective; the same on all ranks.
template <class T>
[[nodiscard]] ClusterSample sample_of(const kmeans::Points<T>& points, const kmeans::Solver<T>& solver);

/// A figure of a page: the points in the colours of their clusters.
/// \param all  the matrix of which they are rows
[[nodiscard]] std::string clusters_figure(const ClusterSample& sample, layout::Shape all);

}  // namespace plait::cli
