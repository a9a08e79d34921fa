#include "plait/poisson/axis.hpp"

#include <algorithm>
#include <cmath>

#include "plait/base/contract.hpp"

namespace plait::poisson {

Axis::Axis(Index extent, double spacing, Points points, Sides sides)
    : spacing_(spacing), sides_(sides), takes_pairs_(points == Points::cells || sides[0] == Side::periodic) {
  PLAIT_ASSERT(extent >= 1 && spacing > 0, "an axis has points");
  length_ = spacing * static_cast<double>(takes_pairs_ ? extent : extent + 1);
  for (Index i = 0; i < extent; ++i) {
    position_.push_back(spacing * (static_cast<double>(i) + (takes_pairs_ ? 0.5 : 1)));
    width_.push_back(spacing);
  }
}

Axis Axis::unused() {
  Axis axis(1, 1, Points::cells, {Side::flux, Side::flux});
  axis.is_used_ = false;
  return axis;
}

double Axis::distance_below(Index i) const {
  const Index n = extent();
  if (i > 0 && i < n) return position(i) - position(i - 1);
  if (is_periodic()) return n == 1 ? 0 : position(0) + length_ - position(n - 1);
  if (sides_[i == 0 ? 0 : 1] == Side::flux) return 0;
  return i == 0 ? position(0) : length_ - position(n - 1);
}

std::array<double, 2> Axis::shares_below(Index i) const {
  const double distance = distance_below(i);
  if (distance == 0) return {0, 0};
  if (!takes_pairs_)
    return i == 0          ? std::array{0., distance}
           : i == extent() ? std::array{distance, 0.}
                           : std::array{distance / 2, distance / 2};
  const bool has_below = i > 0 || is_periodic(), has_above = i < extent() || is_periodic();
  if (!has_below) return {0, distance};
  if (!has_above) return {distance, 0};
  const double below = width((i + extent() - 1) % extent()) / 2;
  return {below, distance - below};
}

Index Axis::within(Index i) const {
  const Index n = extent();
  if (is_periodic()) return (i % n + n) % n;
  return i >= 0 && i < n ? i : -1;
}

auto Axis::weights(Index i, double unit) const -> Weights {
  const Index p = within(i);
  if (p < 0) return {};
  const double width = this->width(p) / unit;
  const auto weight = [&](Index face) {
    const double distance = distance_below(face) / unit;
    return distance > 0 ? 1 / (distance * width) : 0;
  };
  return {weight(p), weight(p + 1), 1 / width};
}

Axis Axis::halved() const {
  Axis coarse;
  coarse.length_ = length_;
  coarse.spacing_ = 2 * spacing_;
  coarse.sides_ = sides_;
  coarse.takes_pairs_ = takes_pairs_;
  const Index n = extent();
  double begin = 0;  // of the cell
  for (Index i = first_coarse(); i < n; i += 2) {
    if (!takes_pairs_) {
      coarse.position_.push_back(position(i));
      continue;
    }
    const double width = this->width(i) + (i + 1 < n ? this->width(i + 1) : 0);
    coarse.position_.push_back(begin + width / 2);
    coarse.width_.push_back(width);
    begin += width;
  }
  if (!takes_pairs_) {
    for (Index i = 0; i < coarse.extent(); ++i) {
      coarse.width_.push_back((coarse.distance_below(i) + coarse.distance_below(i + 1)) / 2);
    }
  }
  return coarse;
}

// Cells by their widths; nodes by the transpose of interpolation.
Axis::Taps Axis::restriction(const Axis& coarse, Index coarse_point) const {
  Taps taps{};
  for (Index t = 0; t < this->taps(); ++t) {
    const Index i = 2 * coarse_point + t;
    if (i >= extent()) continue;
    double weight = 1;
    if (!takes_pairs_) {
      const Interpolation found = interpolation(coarse, i);
      weight = t == 1 ? found.own : t == 0 ? found.own : found.other;
    }
    taps[at(t)] = weight * width(i) / coarse.width(coarse_point);
  }
  return taps;
}

Axis::Interpolation Axis::interpolation(const Axis& coarse, Index point) const {
  const Index n = coarse.extent(), own = point / 2;
  const bool is_above = point % 2 == 1;  // of the middle of a pair
  if (!takes_pairs_ && is_above) return {1, 0};
  const double x = position(point);
  const auto coarse_position = [&](Index i) {
    if (i >= 0 && i < n) return coarse.position(i);
    if (is_periodic()) return i < 0 ? coarse.position(n - 1) - length_ : coarse.position(0) + length_;
    return i < 0 ? 0 : length_;
  };
  const Index other = is_above ? own + 1 : own - 1;
  const bool is_at_flux = (other < 0 && sides_[0] == Side::flux) || (other >= n && sides_[1] == Side::flux);
  if (is_at_flux || (is_periodic() && n == 1)) return {1, 0};
  const double own_position = coarse_position(own), other_position = coarse_position(other);
  if (x == own_position) return {1, 0};
  const double weight = (x - own_position) / (other_position - own_position);
  // A cell that is alone in its pair may lie on the other side of the middle.
  return {1 - weight, weight};
}

std::array<bool, 3> near_least(const std::array<double, 3>& spacing, const std::array<bool, 3>& counts) {
  constexpr double near = 1.5;
  double least = INFINITY;
  for (std::size_t a = 0; a < 3; ++a) {
    if (counts[a]) least = std::min(least, spacing[a]);
  }
  std::array<bool, 3> found{};
  for (std::size_t a = 0; a < 3; ++a) found[a] = counts[a] && spacing[a] <= near * least;
  return found;
}

}  // namespace plait::poisson
