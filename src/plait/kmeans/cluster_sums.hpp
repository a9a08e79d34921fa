#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/vector.hpp"
#include "plait/kmeans/points.hpp"
#include "plait/schedule/schedule.hpp"

namespace plait::kmeans {

/// How many points each cluster has, and the exact sums of their coordinates: of this rank's points, and of all.
template <class T>
class ClusterSums {
 public:
  /// Collective; the points outlive this.
  /// \throws OutOfMemory  on all ranks, where one has too little
  ClusterSums(const Points<T>& points, Index clusters);

  /// Moves points of this rank from cluster to cluster; those that come from -1 were in none, all of them or none.
  void move(std::span<const Index> rows, std::span<const std::int32_t> from, std::span<const std::int32_t> to);

  /// No point of this rank is in any cluster.
  void clear();

  /// Makes those of all from those of the ranks. Collective.
  void merge();

  [[nodiscard]] Index clusters() const noexcept { return own_counts_.count(); }
  /// Of all ranks, as they were merged.
  [[nodiscard]] Index count(Index cluster) const { return all_[cluster]; }
  /// Whether it has others than when changes were forgotten.
  [[nodiscard]] bool has_changed(Index cluster) const { return changed_[cluster] != 0; }
  void forget_changes();
  [[nodiscard]] simd::ExactSum sum(Index cluster, Index column) const {
    return points_.window().sum(all_.data() + words_begin(cluster), column);
  }

 private:
  /// After all counts come the words of each cluster.
  [[nodiscard]] Index words_begin(Index cluster) const {
    return clusters() + cluster * points_.window().words_of_group();
  }

  const Points<T>& points_;
  simd::ColumnSumKernel<T>* kernel_;
  Vector<std::int64_t> own_counts_;
  std::vector<std::int64_t> own_;
  Index rows_until_carry_ = simd::ColumnWindow::rows_between_carries;
  Vector<std::int64_t> all_;
  std::vector<std::int64_t> before_;
  Vector<char> changed_;
  schedule::Schedule schedule_;
};

}  // namespace plait::kmeans
