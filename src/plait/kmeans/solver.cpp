#include "plait/kmeans/solver.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <tuple>
#include <utility>

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

/// A sum as two numbers, that differ from it by 2^-106 of it.
std::array<double, 2> parts_of(simd::ExactSum sum) {
  const auto high = sum.rounded<double>();
  sum.add(-high);
  return {high, sum.rounded<double>()};
}

/// The options, with those that are left open, for centres that are right.
template <class T>
Options checked(const Points<T>& points, const std::vector<T>& start, Options options) {
  return mpi::agreed(points.context(), [&](mpi::Alike& alike) {
    const auto count = static_cast<Index>(start.size());
    alike.add("number of coordinates of centres", count);
    iterate::name_arguments(options.limits, alike);
    iterate::expect_valid(options.limits);
    alike.add("way of drawing", options.draw);
    alike.add("number of points of a batch", options.batch);
    alike.add("number of points of an epoch", options.epoch);
    alike.add("seed", options.seed);
    alike.add("exchange", options.exchange);
    for (const auto& [what, number, least] :
         {std::tuple{"a batch", options.batch, 1}, std::tuple{"an epoch", options.epoch, 0}}) {
      if (number >= least) continue;
      throw ArgumentError(fmt::format("the number of points of {} is {}, expected at least {}", what, number, least));
    }
    if (options.exchange == iterate::Exchange::server) {
      throw ArgumentError(
          "the exchange is server, expected states, gossip or nothing, as centres have no steps to add up");
    }
    if (count % points.dimension() != 0) {
      throw ArgumentError(fmt::format("the centres have {} coordinates in all, expected a multiple of the points' {}",
                                      count, points.dimension()));
    }
    expect_clusters(count / points.dimension(), points.count());
    const double most = 0x1p10 * std::max(2 / points.scale(), 1.0);  // the points' largest coordinate is far less
    const auto wrong = std::ranges::find_if_not(start, [&](T x) { return std::abs(double{x}) <= most; });
    if (wrong != start.end()) {
      const Index place = wrong - start.begin();
      throw ArgumentError(
          fmt::format("the centres have {} in row {}, column {} (counted from 0), expected finite "
                      "numbers in the range of the data",
                      double{*wrong}, place / points.dimension(), place % points.dimension()));
    }
    if (options.epoch == 0) options.epoch = points.count();
    options.batch = std::min({options.batch, options.epoch, points.count()});
    return options;
  });
}

}  // namespace

template <class T>
Solver<T>::Solver(const Points<T>& points, std::vector<T> start, const Options& options)
    : points_(points),
      options_(checked(points, start, options)),
      course_(options.limits, {}, "the shift of the centres"),
      sums_(mpi::agreed(points.context(),
                        [&] {
                          return collective::GroupSums(points.window(),
                                                       static_cast<Index>(start.size()) / points.dimension());
                        })),
      assignment_(mpi::agreed(points.context(), [&] { return Assignment<T>(points, clusters(), options.bounds); })),
      centres_(std::move(start)) {
  mpi::agreed(points.context(), [&] {
    before_ = centres_;
    exact_.assign(centres_.begin(), centres_.end());
    if (options_.draw == Draw::all) return;
    had_.resize(clusters());
    of_batch_.begin(points.window(), clusters());
    const Index most = std::max(options_.batch, fetched_points);
    rows_.reserve(at(most));
    nearest_.resize(most);
    if (options_.draw != Draw::own_batches) return;
    gradient_.resize(exact_.size());
    own_.resize(clusters() + static_cast<Index>(exact_.size()));
  });
  if (options_.draw == Draw::own_batches) {
    descent_.emplace(points.context(), static_cast<Index>(exact_.size()), options_.seed, options_.exchange);
  }
}

template <class T>
bool Solver<T>::advance() {
  if (course_.is_over()) {
    if (state().error == 0) course_.end(iterate::End::converged, "no centre moves any more");
    return false;
  }
  if (course_.is_at_limit()) {
    const bool ends_nowhere = options_.draw != Draw::all && options_.limits.tolerance == 0;
    ends_nowhere ? course_.finish() : course_.end_at_limit();
    return false;
  }
  if (!course_.has_room()) {
    mpi::agreed(points_.context(), [&] {
      course_.make_room();
      objectives_.reserve(2 * objectives_.size() + 64);
    });
  }
  before_ = centres_;
  switch (options_.draw) {
    case Draw::all: take_means(); break;
    case Draw::batches: take_batches(); break;
    case Draw::points: take_points(); break;
    case Draw::own_batches: take_own_batches(); break;
  }
  assignment_.moved(block(before_), centres());
  const Stopwatch watch;
  objectives_.push_back(options_.draw == Draw::all ? objective() : sum_of_distances());
  objective_seconds_ += watch.seconds();
  course_.took(way());
  return true;
}

template <class T>
void Solver<T>::put(std::size_t place, double coordinate) {
  exact_[place] = coordinate;
  centres_[place] = static_cast<T>(coordinate);
}

/// Each point goes to its nearest centre, and these to the means of their points.
template <class T>
void Solver<T>::take_means() {
  assignment_.assign(centres(), sums_);
  sums_.merge(points_.context());
  refill();
  for (Index j = 0; j < clusters(); ++j) {
    for (Index c = 0; sums_.has_changed(j) && c < points_.dimension(); ++c) {
      put(at(j * points_.dimension() + c), sums_.rounded(j, c) / static_cast<double>(sums_.count(j)));
    }
  }
  sums_.forget_changes();
}

/// One cluster after the other that has no points gets one.
template <class T>
void Solver<T>::refill() {
  struct Far {
    double squared;
    Index row;
  };
  std::vector<T> squared;
  for (Index j = 0; j < clusters(); ++j) {
    if (sums_.count(j) != 0) continue;
    mpi::Context& context = points_.context();
    if (squared.empty()) {
      mpi::agreed(context, [&] { squared.resize(at(points_.own().rows) + 1); });
      assignment_.own_distances(centres(), 0, std::span(squared).first(squared.size() - 1));
    }
    Far own{0, 0};
    const auto labels = assignment_.labels();
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (double{squared[i]} <= own.squared || sums_.count(labels[i]) < 2) continue;
      own = {double{squared[i]}, points_.first() + static_cast<Index>(i)};
    }
    Far farthest{0, 0};
    for (const Far& of_rank : mpi::all_gather(context.comm(), own)) {
      if (of_rank.squared > farthest.squared) farthest = of_rank;
    }
    if (farthest.squared == 0) {
      Index distinct = 0;
      for (Index other = 0; other < clusters(); ++other) distinct += sums_.count(other) > 0 ? 1 : 0;
      throw ArgumentError(fmt::format(
          "the number of clusters is {}, expected at most {}, the number of distinct points", clusters(), distinct));
    }
    const Index row = farthest.row - points_.first();
    if (row >= 0 && row < points_.own().rows) {
      assignment_.give(row, static_cast<std::int32_t>(j), sums_);
      squared[at(row)] = 0;
    }
    sums_.merge(points_.context());
    ++refilled_;
  }
}

/// The number of the next draw, of those that all ranks make.
template <class T>
std::uint64_t Solver<T>::draws() const {
  const Index batch = options_.draw == Draw::batches ? options_.batch : 1;
  return static_cast<std::uint64_t>(state().step * quotient_up(options_.epoch, batch) * batch);
}

template <class T>
void Solver<T>::take_batches() {
  const auto count = static_cast<std::uint64_t>(points_.count());
  std::uint64_t counter = draws();
  for (Index begin = 0; begin < options_.epoch; begin += options_.batch) {
    rows_.clear();
    for (Index b = 0; b < options_.batch; ++b) {
      const Index i = static_cast<Index>(random_bits(options_.seed, counter++) % count) - points_.first();
      if (i >= 0 && i < points_.own().rows) rows_.push_back(i);
    }
    assignment_.nearest(points_.own(), rows_, centres(), nearest_);
    of_batch_.clear();
    of_batch_.move(points_.own(), rows_, {}, std::span(nearest_).first(rows_.size()));
    of_batch_.merge(points_.context());
    for (Index j = 0; j < clusters(); ++j) {
      if (of_batch_.count(j) == 0) continue;
      const auto n = static_cast<double>(of_batch_.count(j));
      had_[j] += n;
      for (Index c = 0; c < points_.dimension(); ++c) {
        go_towards(j, c, of_batch_.rounded(j, c) / n, n / had_[j]);
      }
    }
  }
}

template <class T>
void Solver<T>::take_points() {
  const auto count = static_cast<std::uint64_t>(points_.count());
  std::uint64_t counter = draws();
  const Index d = points_.dimension();
  for (Index begin = 0; begin < options_.epoch; begin += fetched_points) {
    rows_.clear();
    for (Index b = 0; b < std::min(fetched_points, options_.epoch - begin); ++b) {
      rows_.push_back(static_cast<Index>(random_bits(options_.seed, counter++) % count));
    }
    const std::vector<T> fetched = points_.rows(rows_);
    for (Index i = 0; i < rows_.count(); ++i) {
      assignment_.nearest({fetched.data(), rows_.count(), d, d}, {&i, 1}, centres(), nearest_);
      const Index j = nearest_[0];
      ++had_[j];
      for (Index c = 0; c < d; ++c) go_towards(j, c, double{fetched[at(i * d + c)]}, 1 / had_[j]);
    }
  }
}

/// Moves a coordinate of a centre by its share of the way to the mean of its new points.
template <class T>
void Solver<T>::go_towards(Index cluster, Index column, double mean, double share) {
  const std::size_t place = at(cluster * points_.dimension() + column);
  put(place, exact_[place] + share * (mean - exact_[place]));
}

template <class T>
void Solver<T>::take_own_batches() {
  const RowBlock<const T> own = points_.own();
  const Index d = points_.dimension();
  const std::uint64_t seed = random_bits(~options_.seed, static_cast<std::uint64_t>(points_.context().rank()));
  // Other draws in each epoch, which has twice as many as there are points at most, and a batch.
  auto counter = static_cast<std::uint64_t>(state().step) << 40;
  rows_.resize(std::min(options_.batch, own.rows));
  std::ranges::fill(own_, 0);
  descent_->begin(options_.epoch, own.rows == 0 ? 0 : portion(options_.epoch, own.rows, points_.count()) + 1);
  while (descent_->goes_on()) {
    for (Index& row : rows_) {
      row = static_cast<Index>(random_bits(seed, counter++) % static_cast<std::uint64_t>(own.rows));
    }
    assignment_.nearest(own, rows_, centres(), nearest_);
    std::ranges::fill(gradient_, 0);
    for (Index b = 0; b < rows_.count(); ++b) ++had_[nearest_[b]];
    for (Index b = 0; b < rows_.count(); ++b) {
      const Index j = nearest_[b];
      ++own_[j];
      for (Index c = 0; c < d; ++c) {
        const auto x = double{own.data[rows_[b] * own.leading_dimension + c]};
        gradient_[at(j * d + c)] += (exact_[at(j * d + c)] - x) / had_[j];
      }
    }
    descent_->step(exact_, gradient_, 1, rows_.count());
    std::ranges::transform(exact_, centres_.begin(), [](double x) { return static_cast<T>(x); });
  }
  average();
}

/// Takes means of the centres of all ranks, each of which has them for as many points as went to it in this epoch.
/// From then on all ranks have had as many.
template <class T>
void Solver<T>::average() {
  const Index d = points_.dimension(), all = clusters();
  for (Index j = 0; j < all; ++j) {
    had_[j] -= own_[j];
    for (Index c = 0; c < d; ++c) own_[all + j * d + c] = own_[j] * exact_[at(j * d + c)];
  }
  const mpi::Communicator& comm = points_.context().comm();
  mpi::all_reduce(comm, std::span<double>(own_), mpi::Operation::sum());
  mpi::broadcast(comm, std::span<double>(own_), 0);  // as MPI's sums may differ
  for (Index j = 0; j < all; ++j) {
    had_[j] += own_[j] / points_.context().size();
    for (Index c = 0; c < d; ++c) {
      const auto place = at(j * d + c);
      put(place, own_[j] > 0 ? own_[all + j * d + c] / own_[j] : double{before_[place]});
    }
  }
  mpi::broadcast(comm, std::span<double>(had_), 0);
}

template <class T>
double Solver<T>::way() const {
  double squared = 0;
  for (std::size_t i = 0; i < centres_.size(); ++i) {
    const double t = double{centres_[i]} - double{before_[i]};
    squared += t * t;
  }
  const double way = std::sqrt(squared / static_cast<double>(clusters()));
  return points_.spread() > 0 ? way / points_.spread() : way;
}

/// Σ |x|² - 2 Σ_j c_j · s_j + Σ_j n_j |c_j|², of exact sums s_j.
template <class T>
double Solver<T>::objective() const {
  simd::ExactSum all = points_.squares();
  for (Index j = 0; j < clusters(); ++j) {
    const auto n = static_cast<double>(sums_.count(j));
    for (Index k = 0; k < points_.dimension(); ++k) {
      const auto c = double{centres_[at(j * points_.dimension() + k)]};
      const auto [high, low] = parts_of(sums_.sum(j, k));
      add_product(all, -2 * c, high);
      all.add(-2 * c * low);
      const double square = c * c;
      add_product(all, square, n);
      all.add(__builtin_fma(c, c, -square) * n);
    }
  }
  return std::max(0.0, all.rounded<double>());
}

/// Of distances of all points, each to its nearest centre.
template <class T>
double Solver<T>::sum_of_distances() {
  assignment_.assign(centres(), sums_);
  sums_.merge(points_.context());
  simd::ExactSum sum;
  constexpr Index block = 1024;
  std::array<T, block> squared;
  for (Index begin = 0; begin < points_.own().rows; begin += block) {
    const std::span<T> d(squared.data(), at(std::min(block, points_.own().rows - begin)));
    assignment_.own_distances(centres(), begin, d);
    simd::add_to(sum, std::span<const T>(d));
  }
  collective::merge(points_.context(), std::span(&sum, 1));
  return sum.rounded<double>();
}

template <class T>
typename Solver<T>::Conclusion Solver<T>::conclude() {
  const double sum = sum_of_distances();
  return mpi::agreed(points_.context(), [&] {
    Conclusion result{sum, {}};
    for (Index j = 0; j < clusters(); ++j) result.sizes.push_back(sums_.count(j));
    return result;
  });
}

template <class T>
void Solver<T>::save(iterate::Checkpoint& checkpoint) const {
  course_.save(checkpoint);
  checkpoint.shared["centres"] = exact_;
  checkpoint.shared["objectives"] = objectives_;
  checkpoint.shared["points had"] = had_;
  checkpoint.numbers["refilled"] = static_cast<double>(refilled_);
}

template <class T>
void Solver<T>::resume(const iterate::Checkpoint& checkpoint) {
  mpi::agreed(points_.context(), [&](mpi::Alike& alike) {
    iterate::name_arguments(checkpoint, alike);
    const std::vector<double>& centres = iterate::vector_of(checkpoint.shared, "centres");
    const std::vector<double>& had = iterate::vector_of(checkpoint.shared, "points had");
    if (centres.size() != exact_.size() || had.size() != had_.size()) {
      throw ArgumentError(
          fmt::format("the state has {} coordinates of centres, expected {}", centres.size(), exact_.size()));
    }
    for (std::size_t i = 0; i < centres.size(); ++i) put(i, centres[i]);
    had_ = had;
    objectives_ = iterate::vector_of(checkpoint.shared, "objectives");
    refilled_ = static_cast<Index>(checkpoint.numbers.at("refilled"));
    course_.resume(checkpoint);
  });
}

template class Solver<float>;
template class Solver<double>;

}  // namespace plait::kmeans
