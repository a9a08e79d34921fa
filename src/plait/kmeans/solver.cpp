#include "plait/kmeans/solver.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/collective/reproducible_sum.hpp"
#include "plait/kmeans/start.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/simd/exact/reproducible_sum.hpp"

namespace plait::kmeans {

namespace {

/// A sum as two numbers, that differ from it by 2^-106 of it.
std::array<double, 2> parts_of(simd::ExactSum sum) {
  const auto high = sum.rounded<double>();
  sum.add(-high);
  return {high, sum.rounded<double>()};
}

}  // namespace

template <class T>
Solver<T>::Solver(const Points<T>& points, std::vector<T> start, const Options& options)
    : points_(points),
      course_(options.limits, {}),
      sums_(points, clusters_of(points, start, options.limits)),
      assignment_(
          mpi::agreed(points.context(), [&] { return Assignment<T>(points, sums_.clusters(), options.bounds); })),
      centres_(std::move(start)) {
  mpi::agreed(points.context(), [&] { before_ = centres_; });
}

template <class T>
bool Solver<T>::advance() {
  if (course_.is_over()) {
    if (state().error == 0) course_.end(iterate::End::converged, "no centre moves any more");
    return false;
  }
  if (course_.is_at_limit()) {
    course_.end_at_limit();
    return false;
  }
  if (!course_.has_room()) {
    mpi::agreed(points_.context(), [&] {
      course_.make_room();
      objectives_.reserve(2 * objectives_.size() + 64);
    });
  }
  assignment_.assign(centres(), sums_);
  sums_.merge();
  refill();
  std::swap(centres_, before_);
  take_means();
  assignment_.moved(block(before_), centres());
  objectives_.push_back(objective());
  course_.took(way());
  return true;
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
    sums_.merge();
    ++refilled_;
  }
}

template <class T>
void Solver<T>::take_means() {
  for (Index j = 0; j < clusters(); ++j) {
    const auto begin = j * points_.dimension();
    if (!sums_.has_changed(j)) {
      std::copy_n(before_.begin() + begin, points_.dimension(), centres_.begin() + begin);
      continue;
    }
    for (Index c = 0; c < points_.dimension(); ++c) {
      const auto sum = sums_.sum(j, c).template rounded<double>();
      centres_[at(begin + c)] = static_cast<T>(sum / static_cast<double>(sums_.count(j)));
    }
  }
  sums_.forget_changes();
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

template <class T>
typename Solver<T>::Conclusion Solver<T>::conclude() {
  mpi::Context& context = points_.context();
  assignment_.assign(centres(), sums_);
  sums_.merge();
  simd::ExactSum sum;
  constexpr Index block = 1024;
  std::array<T, block> squared;
  for (Index begin = 0; begin < points_.own().rows; begin += block) {
    const std::span<T> d(squared.data(), at(std::min(block, points_.own().rows - begin)));
    assignment_.own_distances(centres(), begin, d);
    simd::add_to(sum, std::span<const T>(d));
  }
  collective::merge(context, std::span(&sum, 1));
  return mpi::agreed(context, [&] {
    Conclusion result{sum.rounded<double>(), {}};
    for (Index j = 0; j < clusters(); ++j) result.sizes.push_back(sums_.count(j));
    return result;
  });
}

template <class T>
void Solver<T>::save(iterate::Checkpoint& checkpoint) const {
  course_.save(checkpoint);
  checkpoint.shared["centres"] = {centres_.begin(), centres_.end()};
  checkpoint.shared["objectives"] = objectives_;
  checkpoint.numbers["refilled"] = static_cast<double>(refilled_);
}

template <class T>
void Solver<T>::resume(const iterate::Checkpoint& checkpoint) {
  mpi::agreed(points_.context(), [&] {
    const std::vector<double>& centres = iterate::vector_of(checkpoint.shared, "centres");
    if (centres.size() != centres_.size()) {
      throw ArgumentError(
          fmt::format("the state has {} coordinates of centres, expected {}", centres.size(), centres_.size()));
    }
    objectives_ = iterate::vector_of(checkpoint.shared, "objectives");
    std::ranges::transform(centres, centres_.begin(), [](double x) { return static_cast<T>(x); });
    const auto refilled = checkpoint.numbers.find("refilled");
    refilled_ = refilled == checkpoint.numbers.end() ? 0 : static_cast<Index>(refilled->second);
    course_.resume(checkpoint);
  });
}

template class Solver<float>;
template class Solver<double>;

}  // namespace plait::kmeans
