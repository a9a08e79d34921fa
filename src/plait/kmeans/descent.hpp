#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/vector.hpp"
#include "plait/iterate/asynchronous_descent.hpp"
#include "plait/iterate/course.hpp"
#include "plait/iterate/solver.hpp"
#include "plait/kmeans/cluster_sums.hpp"
#include "plait/kmeans/points.hpp"
#include "plait/simd/nearest/nearest_kernels.hpp"

namespace plait::kmeans {

enum class Draw : unsigned char {
  batches,      ///< from all points, the same for any number of ranks
  points,       ///< one at a time, from all points: all ranks do the same with it
  own_batches,  ///< from a rank's own points: ranks do not wait for each other (ASGD)
};

struct DescentOptions {
  /// Of the way that centres go in an epoch, as in `Options`.
  iterate::Limits limits{.tolerance = 0, .most_iterations = 10};
  Draw draw = Draw::batches;
  Index batch = 1024;
  Index epoch = 0;  ///< points of an iteration; 0: as many as there are
  std::uint64_t seed = 0;
  iterate::Exchange exchange = iterate::Exchange::states;  ///< of own batches
};

/// Centres for which  Σ_i min_j |x_i - c_j|²  is small, by stochastic gradients: each of a few points that are drawn
/// goes to its nearest centre, and then
///
///     c_j ← c_j - n_j / N_j (c_j - mean of its n_j points),
///
/// where N_j is how many it has had so far. An iteration is an epoch: as many draws as there are points. Centres come
/// near those of Lloyd's iteration in few epochs, but do not end anywhere; `Solver::conclude` finds labels for them.
///
/// Collective over the points' context. Sums are exact, so that centres have the same bits on any number of ranks,
/// unless ranks draw from their own points: then each goes down with its own N_j and states of others, as
/// `iterate::AsynchronousDescent` has it, and after an epoch centres become means of those of all ranks, weighted by
/// n_j of the epoch.
///
/// Sources: MacQueen, "Some methods for classification and analysis of multivariate observations", 1967; Sculley,
/// "Web-scale k-means clustering", WWW 2010; Keuper, Pfreundt, MLHPC 2015.
template <class T>
class Descent {
 public:
  /// \throws ArgumentError, OutOfMemory  on all ranks, as `Solver` and for wrong options
  Descent(const Points<T>& points, const std::vector<T>& start, const DescentOptions& options);

  bool advance();
  [[nodiscard]] const iterate::State& state() const noexcept { return course_.state(); }
  void save(iterate::Checkpoint& checkpoint) const;
  /// \throws ArgumentError  the state is of another problem, or has as many iterations as are allowed
  void resume(const iterate::Checkpoint& checkpoint);

  /// Σ_i min_j |x_i - c_j|² after each epoch, of all points.
  [[nodiscard]] const std::vector<double>& objectives() const noexcept { return objectives_; }
  /// What these took on this rank: the method itself needs none.
  [[nodiscard]] double objective_seconds() const noexcept { return objective_seconds_; }
  /// The same on all ranks.
  [[nodiscard]] std::vector<T> centres() const { return {centres_.begin(), centres_.end()}; }

 private:
  void take_batches();
  void take_points();
  void take_own_batches();
  void average();
  void find_nearest(RowBlock<const T> points, std::span<const Index> rows);
  void take(Index cluster, Index column, double mean, double share);
  [[nodiscard]] double objective();
  [[nodiscard]] RowBlock<const T> block() const {
    return {narrow_.data(), clusters_, points_.dimension(), points_.dimension()};
  }

  const Points<T>& points_;
  DescentOptions options_;
  iterate::Course course_;
  Index clusters_;
  ClusterSums<T> sums_;
  std::optional<iterate::AsynchronousDescent> descent_;
  simd::NearestKernels<T> kernels_ = simd::nearest_kernels<T>();
  std::vector<double> centres_, before_;
  std::vector<T> narrow_;  // the centres that distances are computed to
  Vector<double> had_;     // N of each
  Vector<double> own_;     // n of each in this epoch on this rank, and their share of the centres
  std::vector<double> gradient_;
  std::vector<double> objectives_;
  double objective_seconds_ = 0;
  // Of points at work: which, the nearest centre, the squared distance.
  Vector<Index> rows_;
  Vector<std::int32_t> nearest_;
  std::vector<T> squared_, panel_;
};

}  // namespace plait::kmeans
