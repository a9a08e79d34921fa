#include "plait/poisson/clusters.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/poisson/parts.hpp"

namespace plait::poisson {

using layout::Point;

namespace {

// Of the face below a point, as the symmetric equations have it.
double conductance(const Level& level, std::size_t a, const Point& face, const Point& point) {
  return level.conductance(a, face) * level.stretch(point) / level.axes()[a].width(point[a]);
}

}  // namespace

Clusters::Clusters(mpi::Context& context, Level& level) : context_(context), level_(level) {
  std::array<double, 2> extremes{0, 0};  // the largest conductance, and 1 / the least
  level.for_each_point([&](std::size_t, const Point& point) {
    for (std::size_t a = 0; a < layout::axes; ++a) {
      const double c = conductance(level, a, point, point);
      if (c > 0) extremes = {std::max(extremes[0], c), std::max(extremes[1], 1 / c)};
    }
  });
  mpi::all_reduce(context.comm(), std::span<double>(extremes), mpi::Operation::maximum());
  mpi::agreed(context, [&] {
    level.for_each_point([&](std::size_t, const Point& point) { stretches_.push_back(level.stretch(point)); });
  });
  constexpr double step = 100;
  Index sets = -1;
  for (double least = extremes[0] / step; sets != 1 && least * step * extremes[1] >= 1; least /= step) {
    const Index before = std::exchange(sets, add_stage(least));
    if (sets == before) stages_.pop_back();
  }
}

// Of points that faces of this conductance at least join; returns how many sets there are, points alone among them.
Index Clusters::add_stage(double least) {
  std::vector<bool> inside;
  mpi::agreed(context_, [&] {
    stages_.emplace_back();
    if (!level_.has_outside()) return;
    level_.for_each_point([&](std::size_t, const Point& point) { inside.push_back(level_.is_inside(point)); });
  });
  const Axes& axes = level_.axes();
  const Components components(context_, axes, level_.partition(), inside, [&](std::size_t a, const Point& face) {
    Point point = face;
    if (!level_.own().contains(face)) --point[a];
    return conductance(level_, a, face, point) >= least;
  });
  Stage& stage = stages_.back();
  const std::vector<Index>& shared = components.shared();
  Index count = 0;
  mpi::agreed(context_, [&] {
    stage.shared = shared.size();
    stage.outflows.resize(shared.size());
    const layout::Box whole = level_.partition().whole();
    const layout::Box& own = level_.own();
    level_.for_each_point([&](std::size_t, const Point& point) {
      const Index label = components.of(point);
      double outflow = 0;
      bool is_alone = true;
      for_each_next(point, [&](std::size_t a, std::size_t, const Point& next, const Point& face) {
        if (label < 0) return;
        if (components.of(next) != label) {
          outflow += conductance(level_, a, face, point);
        } else {
          is_alone = false;
        }
      });
      const bool is_first = label >= 0 && label == whole.offset_of(point);
      if (is_first) ++count;
      if (is_alone) return stage.sets.push_back(-1);
      const Index number = std::ranges::lower_bound(shared, label) - shared.begin();
      if (number < std::ssize(shared) && shared[at(number)] == label) {
        stage.sets.push_back(number);
      } else if (is_first) {
        stage.sets.push_back(std::ssize(stage.outflows));
        stage.outflows.push_back(0);
      } else {
        stage.sets.push_back(stage.sets[at(own.offset_of(whole.point_at(label)))]);
      }
      stage.outflows[at(stage.sets.back())] += outflow;
    });
    sums_.resize(std::max(sums_.size(), stage.outflows.size()));
  });
  mpi::all_reduce(context_.comm(), std::span(stage.outflows).first(stage.shared), mpi::Operation::sum());
  return mpi::all_reduce(context_.comm(), count, mpi::Operation::sum());
}

double Clusters::largest_shift(std::span<const double> r) {
  double most = 0;
  std::size_t number = 0;
  level_.for_each_point([&](std::size_t place, const Point&) {
    most = std::max(most, std::abs(level_.inverse_diagonal()[place] * r[number++]));
  });
  for (const Stage& stage : stages_) {
    const std::span<double> sums = std::span(sums_).first(stage.outflows.size());
    std::ranges::fill(sums, 0);
    for (std::size_t i = 0; i < r.size(); ++i) {
      if (stage.sets[i] >= 0) sums[at(stage.sets[i])] += stretches_[i] * r[i];
    }
    mpi::all_reduce(context_.comm(), sums.first(stage.shared), mpi::Operation::sum());
    for (std::size_t i = 0; i < sums.size(); ++i) {
      if (stage.outflows[i] > 0) most = std::max(most, std::abs(sums[i]) / stage.outflows[i]);
    }
  }
  return mpi::all_reduce(context_.comm(), most, mpi::Operation::maximum());
}

}  // namespace plait::poisson
