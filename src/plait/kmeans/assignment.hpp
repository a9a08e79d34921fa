#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/vector.hpp"
#include "plait/collective/group_sums.hpp"
#include "plait/kmeans/points.hpp"
#include "plait/simd/nearest/nearest_kernels.hpp"

namespace plait::kmeans {

/// Whether bounds of distances save their computation. Results are the same.
enum class Bounds : unsigned char { automatic, never, always };

/// Which centre is nearest to each of a rank's points, the first of several. Local.
///
/// Which one it is single precision tells of most points, as `simd::NarrowCentres` has it, for less than half of the
/// time. Only the others' distances are computed.
///
/// Each point has an upper bound of the distance to its own centre, and a lower one to all others; centres that moved
/// since loosen them by how far they went at most. Where they stay apart by more than distances are rounded by, the
/// computed distances would give the same centre, and nothing is computed. Such bounds cost something: a few points try
/// them first, and where these take about as long as without, the others do without.
///
/// Source: Hamerly, "Making k-means even faster", SDM 2010.
template <class T>
class Assignment {
 public:
  /// The points outlive this.
  /// \pre  1 <= clusters < 2^24
  /// \throws std::bad_alloc
  Assignment(const Points<T>& points, Index clusters, Bounds bounds);

  /// Gives each point its nearest centre, and moves those that change from cluster to cluster in `sums`.
  /// \returns how many change
  Index assign(RowBlock<const T> centres, collective::GroupSums& sums);
  /// The nearest centres of some rows of any points.
  void nearest(RowBlock<const T> points, std::span<const Index> rows, RowBlock<const T> centres,
               std::span<std::int32_t> found);
  /// To be told between assignments.
  void moved(RowBlock<const T> before, RowBlock<const T> after);
  /// Gives a point to another cluster.
  void give(Index row, std::int32_t cluster, collective::GroupSums& sums);

  /// The squared distances of points [first, first + d.size()) to their centres, with the bits that they were compared
  /// by.
  void own_distances(RowBlock<const T> centres, Index first, std::span<T> d) const;

  /// -1 before the first assignment.
  [[nodiscard]] std::span<const std::int32_t> labels() const noexcept { return labels_; }
  /// Distances of points to centres that were computed so far, in either precision, by `assign` and `nearest`; and how
  /// many there would be without bounds.
  [[nodiscard]] double computed() const noexcept { return computed_; }
  [[nodiscard]] double without_bounds() const noexcept { return without_bounds_; }

 private:
  struct Chunk;

  [[nodiscard]] float bound(T squared) const;
  [[nodiscard]] bool is_sure(float upper, float lower, float fall) const;
  void narrow(RowBlock<const T> centres);
  void drop_sure(Chunk& chunk);
  void find(Chunk& chunk);
  void find_exactly(const Chunk& chunk, std::span<const std::int32_t> places, std::int32_t* found, bool keeps_bounds);
  void keep_bounds(Index row, std::int32_t label, float upper, float lower);
  [[nodiscard]] RowBlock<const T> from(const Chunk& chunk) const;
  void settle(Chunk& chunk);
  void choose_extent(Index rows, double bounded_seconds, double seconds);

  const Points<T>& points_;
  Index clusters_;
  Bounds kind_;
  simd::Isa isa_;
  simd::NearestKernels<T> kernels_;
  simd::DoubtfulKernel* find_doubtful_;
  simd::NearestBoundsKernel* nearest_bounds_;
  double squared_scale_;
  Vector<std::int32_t> labels_;
  Index has_bounds_ = 0;      // as many of the first points
  Index to_have_ = 0;         // after the next assignment
  double plain_seconds_ = 0;  // of a point without bounds, when there was one last
  int good_ = 0;              // times that bounds were worth it, of the last ones
  double computed_ = 0;
  double without_bounds_ = 0;

  // Bounds as they were when they were found, less and plus what had moved by then.
  Vector<float> upper_, lower_;
  Vector<double> moved_;  // in all, of each centre
  Vector<float> moved_rounded_;
  double fall_ = 0;  // the same of the one that moved most, each time
  float slack_ = 0;
  float least_ = 0;
  std::vector<T> panel_;

  // In single precision: the centres, and points of this assignment that were looked at and were not sure.
  simd::NarrowCentres narrow_centres_;
  std::vector<T> origin_;
  std::vector<float> narrow_, narrow_panel_;
  Vector<float> half_, narrow_slack_;
  Index narrowed_ = 0, unsure_ = 0;
};

}  // namespace plait::kmeans
