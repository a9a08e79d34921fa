#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/vector.hpp"
#include "plait/collective/group_sums.hpp"
#include "plait/iterate/asynchronous_descent.hpp"
#include "plait/iterate/course.hpp"
#include "plait/iterate/solver.hpp"
#include "plait/kmeans/assignment.hpp"
#include "plait/kmeans/points.hpp"

namespace plait::kmeans {

/// Which points an iteration moves centres by.
enum class Draw : unsigned char {
  all,          ///< each point once (Lloyd)
  batches,      ///< some at a time, from all points, the same for any number of ranks
  points,       ///< one at a time, from all points: all ranks do the same with it
  own_batches,  ///< from a rank's own points: ranks do not wait for each other (ASGD)
};

struct Options {
  /// Of the way that centres go in an iteration: √ of its mean square, over the `spread` of the points. With 0 it ends
  /// where nothing moves any more.
  iterate::Limits limits{.tolerance = 0, .most_iterations = 300};
  Draw draw = Draw::all;
  Index batch = 1024;
  Index epoch = 0;  ///< points that are drawn in an iteration; 0: as many as there are
  std::uint64_t seed = 0;
  iterate::Exchange exchange = iterate::Exchange::states;  ///< of own batches
  Bounds bounds = Bounds::automatic;
};

/// k-means: centres and labels for which  Σ |x_i - c_label(i)|²  is small. By Lloyd's iteration, each point gets the
/// nearest centre, the first of several, and each centre becomes the mean of its points, in turn.
///
///     const Points<double> points(context, rows);
///     Solver<double> solver(points, spread_centres(points, 10, seed), {});
///     iterate::run(solver);
///     const auto result = solver.conclude();
///
/// A cluster without points gets the one that is farthest from its centre, of those that are not alone.
///
/// Or by stochastic gradients: each of a few points that are drawn goes to its nearest centre, and then
///
///     c_j ← c_j - n_j / N_j (c_j - mean of its n_j points),
///
/// where N_j is how many it has had so far. An iteration is an epoch. Centres come near those of Lloyd's iteration in
/// few epochs, but do not end anywhere.
///
/// Everything is collective over the points' context. Sums of clusters are exact: centres and labels have the same bits
/// on any number of ranks, with bounds or without, unless ranks draw from their own points. Then each goes down with
/// its own N_j and states of others, as `iterate::AsynchronousDescent` has it, and after an epoch centres become means
/// of those of all ranks, weighted by n_j of the epoch.
///
/// Sources: Lloyd, "Least squares quantization in PCM", IEEE Trans. Inf. Theory 28 (1982); MacQueen, "Some methods for
/// classification and analysis of multivariate observations", 1967; Sculley, "Web-scale k-means clustering", WWW 2010;
/// Keuper, Pfreundt, MLHPC 2015.
template <class T>
class Solver {
 public:
  /// \param start  centres, one after the other
  /// \throws ArgumentError  on all ranks: no whole number of centres, more than points, coordinates that are not
  ///                        finite or beyond the range of the points, or wrong options
  /// \throws OutOfMemory    on all ranks, where one has too little
  Solver(const Points<T>& points, std::vector<T> start, const Options& options);

  /// \throws ArgumentError  on all ranks: there are fewer distinct points than clusters
  bool advance();
  [[nodiscard]] const iterate::State& state() const noexcept { return course_.state(); }
  void save(iterate::Checkpoint& checkpoint) const;
  /// \throws ArgumentError  the state is of another problem, or has as many iterations as are allowed
  void resume(const iterate::Checkpoint& checkpoint);

  /// After each iteration the sum of squared distances of points to the means of their clusters; of points that are
  /// drawn, to the nearest centres.
  [[nodiscard]] const std::vector<double>& objectives() const noexcept { return objectives_; }
  /// What these took on this rank where points are drawn, which needs none.
  [[nodiscard]] double objective_seconds() const noexcept { return objective_seconds_; }
  /// How many clusters without points got one.
  [[nodiscard]] Index refilled() const noexcept { return refilled_; }
  /// The same on all ranks.
  [[nodiscard]] RowBlock<const T> centres() const noexcept { return block(centres_); }
  [[nodiscard]] const Assignment<T>& assignment() const noexcept { return assignment_; }

  struct Conclusion {
    double objective = 0;  ///< of all distances, recomputed
    std::vector<Index> sizes;
  };
  /// Gives all points the labels that belong to the centres as they are now.
  Conclusion conclude();

 private:
  [[nodiscard]] RowBlock<const T> block(const std::vector<T>& centres) const {
    return {centres.data(), clusters(), points_.dimension(), points_.dimension()};
  }
  [[nodiscard]] Index clusters() const noexcept { return sums_.groups(); }
  void refill();
  void take_means();
  void take_batches();
  void take_points();
  void take_own_batches();
  void average();
  void put(std::size_t place, double coordinate);
  void go_towards(Index cluster, Index column, double mean, double share);
  [[nodiscard]] std::uint64_t draws() const;
  [[nodiscard]] double way() const;
  [[nodiscard]] double objective() const;
  [[nodiscard]] double sum_of_distances();

  const Points<T>& points_;
  Options options_;
  iterate::Course course_;
  collective::GroupSums sums_;
  Assignment<T> assignment_;
  std::vector<double> exact_;        // the centres
  std::vector<T> centres_, before_;  // as distances are computed to them, now and before this iteration
  std::vector<double> objectives_;
  double objective_seconds_ = 0;
  Index refilled_ = 0;
  // Where points are drawn: how many each centre has had; those of a batch, their nearest centres, and their sums; the
  // gradient of own ones, how many of this epoch each centre has had, and their share of the centres.
  Vector<double> had_, own_;
  Vector<Index> rows_;
  Vector<std::int32_t> nearest_;
  std::vector<double> gradient_;
  collective::GroupSums of_batch_;
  std::optional<iterate::AsynchronousDescent> descent_;
};

}  // namespace plait::kmeans
