#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/vector.hpp"
#include "plait/iterate/course.hpp"
#include "plait/iterate/solver.hpp"
#include "plait/kmeans/assignment.hpp"
#include "plait/kmeans/cluster_sums.hpp"
#include "plait/kmeans/points.hpp"

namespace plait::kmeans {

struct Options {
  /// Of the way that centres go in an iteration: √ of its mean square, over the `spread` of the points. With 0 it ends
  /// where nothing moves any more.
  iterate::Limits limits{.tolerance = 0, .most_iterations = 300};
  Bounds bounds = Bounds::automatic;
};

/// k-means: centres and labels for which  Σ |x_i - c_label(i)|²  is small, by Lloyd's iteration. In turn, each point
/// gets the nearest centre, the first of several, and each centre becomes the mean of its points.
///
///     const Points<double> points(context, rows);
///     Solver<double> solver(points, spread_centres(points, 10, seed), {});
///     iterate::run(solver);
///     const auto result = solver.conclude();
///
/// A cluster without points gets the one that is farthest from its centre, of those that are not alone.
///
/// Everything is collective over the points' context. Sums of clusters are exact and go with the points that change:
/// centres and labels have the same bits on any number of ranks, with bounds or without.
///
/// Source: Lloyd, "Least squares quantization in PCM", IEEE Trans. Inf. Theory 28 (1982).
template <class T>
class Solver {
 public:
  /// \param start  centres, one after the other
  /// \throws ArgumentError  on all ranks: no whole number of centres, more than points, coordinates that are not
  /// finite,
  ///                        or wrong limits
  /// \throws OutOfMemory    on all ranks, where one has too little
  Solver(const Points<T>& points, std::vector<T> start, const Options& options);

  /// \throws ArgumentError  on all ranks: there are fewer distinct points than clusters
  bool advance();
  [[nodiscard]] const iterate::State& state() const noexcept { return course_.state(); }
  void save(iterate::Checkpoint& checkpoint) const;
  /// \throws ArgumentError  the state is of another problem, or has as many iterations as are allowed
  void resume(const iterate::Checkpoint& checkpoint);

  /// The sum of squared distances of points to the means of their clusters, after each iteration.
  [[nodiscard]] const std::vector<double>& objectives() const noexcept { return objectives_; }
  /// How many clusters without points got one.
  [[nodiscard]] Index refilled() const noexcept { return refilled_; }
  /// The same on all ranks.
  [[nodiscard]] RowBlock<const T> centres() const noexcept { return block(centres_); }
  [[nodiscard]] const Assignment<T>& assignment() const noexcept { return assignment_; }

  struct Conclusion {
    double objective = 0;  ///< of all distances, computed anew
    std::vector<Index> sizes;
  };
  /// Gives all points the labels that belong to the centres as they are now.
  Conclusion conclude();

 private:
  [[nodiscard]] RowBlock<const T> block(const std::vector<T>& centres) const {
    return {centres.data(), clusters(), points_.dimension(), points_.dimension()};
  }
  [[nodiscard]] Index clusters() const noexcept { return sums_.clusters(); }
  void refill();
  void take_means();
  [[nodiscard]] double way() const;
  [[nodiscard]] double objective() const;

  const Points<T>& points_;
  iterate::Course course_;
  ClusterSums<T> sums_;
  Assignment<T> assignment_;
  std::vector<T> centres_, before_;
  std::vector<double> objectives_;
  Index refilled_ = 0;
};

}  // namespace plait::kmeans
