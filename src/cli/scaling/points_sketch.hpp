#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/costs/point_clouds.hpp"
#include "plait/sinkhorn/marginals/marginals.hpp"

namespace plait::cli {

/// The points of a transport and the strongest links of its plan, as a page shows them: in a plane.
struct PointsSketch {
  struct DrawnPoint {
    Index index = 0;
    double mass = 0;
    double x = 0;
    double y = 0;
  };
  struct Link {
    double mass = 0;
    DrawnPoint from;
    DrawnPoint to;
  };
  Index coordinates = 0;
  double shown = 1;                               // part of the variance that the plane has
  std::array<Index, 2> counts{};                  // of X and Y
  Index links_of_point = 0;                       // of X, at most
  double mass = 0;                                // of the plan
  std::array<std::vector<DrawnPoint>, 2> points;  // some of them, at even distances
  std::vector<Link> links;                        // from X to Y, the strongest first
};

/// Takes a plan row by row, as it lies on the ranks, and keeps the strongest links of the points of X that are drawn.
class LinkSketcher {
 public:
  static constexpr Index most_points = 1000;  // of each cloud; fewer where they have many coordinates
  static constexpr Index most_links = 1000;
  static constexpr Index most_links_of_point = 20;

  /// \param masses  outlive it
  LinkSketcher(const sinkhorn::CheckedMarginals& masses, Index coordinates)
      : masses_(masses),
        most_(std::clamp((Index{1} << 21) / std::max(coordinates, Index{1}), Index{20}, most_points)),
        step_(step_of(masses.all_rows)),
        links_of_point_(
            std::clamp(most_links * step_ / std::max(masses.all_rows, Index{1}), Index{1}, most_links_of_point)) {}

  /// Row i of this rank's.
  template <class A>
  void add(Index i, std::span<const A> row) {
    if ((masses_.first_row + i) % step_ != 0) return;
    order_.resize(row.size());
    std::iota(order_.begin(), order_.end(), Index{0});
    const auto mass = [&](Index j) { return row[at(j)]; };
    const Index kept = std::min(links_of_point_, static_cast<Index>(row.size()));
    std::ranges::partial_sort(order_, order_.begin() + kept, std::greater(), mass);
    for (Index k = 0; k < kept; ++k) {
      const Index j = order_[at(k)];
      if (mass(j) > 0) entries_.push_back({static_cast<double>(mass(j)), masses_.first_row + i, j});
    }
  }

  /// Of all ranks, on rank 0; on others nothing of use. Collective over `context`.
  /// \param origin  what the coordinates of points are taken less, each its own
  template <class A>
  [[nodiscard]] PointsSketch taken(mpi::Context& context, const sinkhorn::PointClouds<A>& clouds,
                                   std::span<const double> origin) const;

 private:
  struct Entry {
    double mass;
    Index row;
    Index column;
  };
  /// From one point of a cloud that is drawn to the next.
  [[nodiscard]] Index step_of(Index points) const { return std::max((points + most_ - 1) / most_, Index{1}); }

  const sinkhorn::CheckedMarginals& masses_;
  Index most_;
  Index step_;  // of X
  Index links_of_point_;
  std::vector<Entry> entries_;
  std::vector<Index> order_;
};

/// It as a figure of a page.
///
/// \param names  of the files of X and Y
[[nodiscard]] std::string drawn(const PointsSketch& sketch, std::span<const std::string> names);

}  // namespace plait::cli
