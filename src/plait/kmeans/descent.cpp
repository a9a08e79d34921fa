#include "plait/kmeans/descent.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/base/random.hpp"
#include "plait/base/rounding.hpp"
#include "plait/base/stopwatch.hpp"
#include "plait/collective/reproducible_sum.hpp"
#include "plait/kmeans/start.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/simd/exact/reproducible_sum.hpp"

namespace plait::kmeans {

namespace {

constexpr Index fetched_points = 1024;  // that are given to all ranks at a time

DescentOptions checked(mpi::Context& context, DescentOptions options, Index points) {
  return mpi::agreed(context, [&](mpi::Alike& alike) {
    alike.add("way of drawing", options.draw);
    alike.add("number of points of a batch", options.batch);
    alike.add("number of points of an epoch", options.epoch);
    alike.add("seed", options.seed);
    alike.add("exchange", options.exchange);
    if (options.batch < 1) {
      throw ArgumentError(fmt::format("the number of points of a batch is {}, expected at least 1", options.batch));
    }
    if (options.epoch < 0) {
      throw ArgumentError(fmt::format("the number of points of an epoch is {}, expected at least 0", options.epoch));
    }
    if (options.exchange == iterate::Exchange::server) {
      throw ArgumentError(
          "the exchange is server, expected states, gossip or nothing, as centres have no steps to add up");
    }
    if (options.epoch == 0) options.epoch = points;
    options.batch = std::min({options.batch, options.epoch, points});
    return options;
  });
}

}  // namespace

template <class T>
Descent<T>::Descent(const Points<T>& points, const std::vector<T>& start, const DescentOptions& options)
    : points_(points),
      options_(checked(points.context(), options, points.count())),
      course_(options.limits, {}),
      clusters_(clusters_of(points, start, options.limits)),
      sums_(points, clusters_) {
  mpi::agreed(points.context(), [&] {
    centres_.assign(start.begin(), start.end());
    before_ = gradient_ = centres_;
    narrow_ = start;
    had_.resize(clusters_);
    own_.resize(clusters_ * (points.dimension() + 1));
    const Index most = std::max(options_.batch, fetched_points);
    rows_.reserve(at(most));
    nearest_.resize(most);
    squared_.resize(at(most));
    panel_.resize(at(simd::nearest_points * points.dimension()));
  });
  if (options.draw == Draw::own_batches) {
    descent_.emplace(points.context(), static_cast<Index>(start.size()), options.seed, options.exchange);
  }
}

template <class T>
bool Descent<T>::advance() {
  if (course_.is_over()) return false;
  if (course_.is_at_limit()) {
    options_.limits.tolerance > 0 ? course_.end_at_limit() : course_.finish();
    return false;
  }
  mpi::agreed(points_.context(), [&] {
    if (!course_.has_room()) course_.make_room();
    objectives_.reserve(objectives_.size() + 1);
  });
  before_ = centres_;
  if (options_.draw == Draw::batches) take_batches();
  if (options_.draw == Draw::points) take_points();
  if (options_.draw == Draw::own_batches) take_own_batches();
  double squared = 0;
  for (std::size_t i = 0; i < centres_.size(); ++i) {
    squared += (centres_[i] - before_[i]) * (centres_[i] - before_[i]);
  }
  const double way = std::sqrt(squared / static_cast<double>(clusters_));
  const Stopwatch watch;
  objectives_.push_back(objective());
  objective_seconds_ += watch.seconds();
  course_.took(points_.spread() > 0 ? way / points_.spread() : way);
  return true;
}

/// Of some rows of a block, with as many places in `nearest_` and `squared_`.
template <class T>
void Descent<T>::find_nearest(RowBlock<const T> points, std::span<const Index> rows) {
  constexpr Index at_once = simd::nearest_points;
  std::array<T, at_once> least, place;
  const auto count = static_cast<Index>(rows.size());
  for (Index begin = 0; begin < count; begin += at_once) {
    const Index of_panel = std::min(at_once, count - begin);
    fill_panel(points, rows.subspan(at(begin), at(of_panel)), panel_.data());
    kernels_.nearest(panel_.data(), block(), least.data(), place.data());
    for (Index p = 0; p < of_panel; ++p) {
      nearest_[begin + p] = static_cast<std::int32_t>(place[at(p)]);
      squared_[at(begin + p)] = least[at(p)];
    }
  }
}

/// Moves a coordinate of a centre by its share of the way to the mean of its new points.
template <class T>
void Descent<T>::take(Index cluster, Index column, double mean, double share) {
  const std::size_t i = at(cluster * points_.dimension() + column);
  centres_[i] += share * (mean - centres_[i]);
  narrow_[i] = static_cast<T>(centres_[i]);
}

template <class T>
void Descent<T>::take_batches() {
  const auto count = static_cast<std::uint64_t>(points_.count());
  const Index steps = quotient_up(options_.epoch, options_.batch);
  auto counter = static_cast<std::uint64_t>(course_.state().step) * static_cast<std::uint64_t>(steps * options_.batch);
  for (Index s = 0; s < steps; ++s) {
    rows_.clear();
    for (Index b = 0; b < options_.batch; ++b) {
      const Index i = static_cast<Index>(random_bits(options_.seed, counter++) % count) - points_.first();
      if (i >= 0 && i < points_.own().rows) rows_.push_back(i);
    }
    find_nearest(points_.own(), rows_);
    sums_.clear();
    sums_.move(rows_, std::array<std::int32_t, 1>{-1}, std::span(nearest_).first(rows_.size()));
    sums_.merge();
    for (Index j = 0; j < clusters_; ++j) {
      if (sums_.count(j) == 0) continue;
      const auto n = static_cast<double>(sums_.count(j));
      had_[j] += n;
      for (Index c = 0; c < points_.dimension(); ++c) {
        take(j, c, sums_.sum(j, c).template rounded<double>() / n, n / had_[j]);
      }
    }
  }
}

template <class T>
void Descent<T>::take_points() {
  const auto count = static_cast<std::uint64_t>(points_.count());
  auto counter = static_cast<std::uint64_t>(course_.state().step) * static_cast<std::uint64_t>(options_.epoch);
  const Index d = points_.dimension();
  for (Index begin = 0; begin < options_.epoch; begin += fetched_points) {
    rows_.clear();
    for (Index b = 0; b < std::min(fetched_points, options_.epoch - begin); ++b) {
      rows_.push_back(static_cast<Index>(random_bits(options_.seed, counter++) % count));
    }
    const std::vector<T> fetched = points_.rows(rows_);
    for (Index i = 0; i < rows_.count(); ++i) {
      find_nearest({fetched.data(), rows_.count(), d, d}, {&i, 1});
      const Index j = nearest_[0];
      ++had_[j];
      for (Index c = 0; c < d; ++c) take(j, c, double{fetched[at(i * d + c)]}, 1 / had_[j]);
    }
  }
}

template <class T>
void Descent<T>::take_own_batches() {
  const RowBlock<const T> own = points_.own();
  const Index d = points_.dimension();
  const std::uint64_t seed = random_bits(~options_.seed, static_cast<std::uint64_t>(points_.context().rank()));
  // Other draws in each epoch, which has twice as many as there are points at most, and a batch.
  auto counter = static_cast<std::uint64_t>(course_.state().step) << 40;
  rows_.resize(std::min(options_.batch, own.rows));
  std::ranges::fill(own_, 0);
  descent_->begin(options_.epoch, own.rows == 0 ? 0 : portion(options_.epoch, own.rows, points_.count()) + 1);
  while (descent_->goes_on()) {
    for (Index& row : rows_) {
      row = static_cast<Index>(random_bits(seed, counter++) % static_cast<std::uint64_t>(own.rows));
    }
    find_nearest(own, rows_);
    std::ranges::fill(gradient_, 0);
    for (Index b = 0; b < rows_.count(); ++b) ++had_[nearest_[b]];
    for (Index b = 0; b < rows_.count(); ++b) {
      const Index j = nearest_[b];
      ++own_[j];
      for (Index c = 0; c < d; ++c) {
        const auto x = double{own.data[rows_[b] * own.leading_dimension + c]};
        gradient_[at(j * d + c)] += (centres_[at(j * d + c)] - x) / had_[j];
      }
    }
    descent_->step(centres_, gradient_, 1, rows_.count());
    std::ranges::transform(centres_, narrow_.begin(), [](double x) { return static_cast<T>(x); });
  }
  average();
}

/// Takes means of the centres of all ranks, each of which has them for as many points as went to it in this epoch.
/// From then on all ranks have had as many.
template <class T>
void Descent<T>::average() {
  const Index d = points_.dimension();
  for (Index j = 0; j < clusters_; ++j) {
    had_[j] -= own_[j];
    for (Index c = 0; c < d; ++c) own_[clusters_ + j * d + c] = own_[j] * centres_[at(j * d + c)];
  }
  const mpi::Communicator& comm = points_.context().comm();
  mpi::all_reduce(comm, std::span<double>(own_), mpi::Operation::sum());
  for (Index j = 0; j < clusters_; ++j) {
    had_[j] += own_[j] / points_.context().size();
    for (Index c = 0; c < d; ++c) {
      double& centre = centres_[at(j * d + c)];
      centre = own_[j] > 0 ? own_[clusters_ + j * d + c] / own_[j] : before_[at(j * d + c)];
    }
  }
  for (auto* each : {&centres_, static_cast<std::vector<double>*>(&had_)}) {
    mpi::broadcast(comm, std::span(*each), 0);  // as MPI's sums may differ
  }
  std::ranges::transform(centres_, narrow_.begin(), [](double x) { return static_cast<T>(x); });
}

template <class T>
double Descent<T>::objective() {
  simd::ExactSum sum;
  for (Index begin = 0; begin < points_.own().rows; begin += fetched_points) {
    rows_.resize(std::min(fetched_points, points_.own().rows - begin));
    std::iota(rows_.begin(), rows_.end(), begin);
    find_nearest(points_.own(), rows_);
    simd::add_to(sum, std::span<const T>(squared_).first(rows_.size()));
  }
  collective::merge(points_.context(), std::span(&sum, 1));
  return sum.rounded<double>();
}

template <class T>
void Descent<T>::save(iterate::Checkpoint& checkpoint) const {
  course_.save(checkpoint);
  checkpoint.shared["centres"] = centres_;
  checkpoint.shared["points had"] = had_;
  checkpoint.shared["objectives"] = objectives_;
}

template <class T>
void Descent<T>::resume(const iterate::Checkpoint& checkpoint) {
  mpi::agreed(points_.context(), [&] {
    const std::vector<double>& centres = iterate::vector_of(checkpoint.shared, "centres");
    const std::vector<double>& had = iterate::vector_of(checkpoint.shared, "points had");
    if (centres.size() != centres_.size() || had.size() != had_.size()) {
      throw ArgumentError(
          fmt::format("the state has {} coordinates of centres, expected {}", centres.size(), centres_.size()));
    }
    centres_ = centres;
    had_ = had;
    std::ranges::transform(centres_, narrow_.begin(), [](double x) { return static_cast<T>(x); });
    objectives_ = iterate::vector_of(checkpoint.shared, "objectives");
    course_.resume(checkpoint);
  });
}

template class Descent<float>;
template class Descent<double>;

}  // namespace plait::kmeans
