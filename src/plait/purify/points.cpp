#include "plait/purify/points.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/purify/elementwise.hpp"
#include "plait/purify/products.hpp"
#include "plait/purify/purification.hpp"
#include "plait/redistribute/redistribution.hpp"

namespace plait::purify {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double rounding = 1e-9;  // of sums of weights

/// A state of one of the points.
struct PointState {
  double energy;
  double weight;
  Index point;
  Index number;  // in its point
};

std::string called(const PointState& state) {
  return fmt::format("state {} of point {}", state.number + 1, state.point + 1);
}

/// How many of the lowest states there is room in, one by one.
std::size_t count_filled(const std::vector<PointState>& states, double filled) {
  double sum = 0;
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (std::abs(sum - filled) <= rounding) return i;
    if (sum > filled) {
      throw NoGap(
          fmt::format("no gap for electrons in {:.10g} states of all points: {} at {:.12g} would be occupied in "
                      "part; expected a smearing, or other weights or electrons",
                      filled, called(states[i - 1]), states[i - 1].energy),
          {states[i - 1].energy, states[i - 1].energy});
    }
    sum += states[i].weight;
  }
  return states.size();
}

void set_frontier(PointsFilling& result, const std::vector<PointState>& states, std::size_t filled) {
  if (filled == 0 || filled == states.size()) return;
  const PointState& below = states[filled - 1];
  const PointState& above = states[filled];
  result.frontier = {below.energy, 0, above.energy, 0};
  result.frontier_points = {below.point, above.point};
  result.chemical_potentials = {below.energy, above.energy};
  if (is_gap(below.energy, above.energy, {states.front().energy, states.back().energy})) return;
  throw NoGap(fmt::format("no gap for electrons in the {} lowest states of all points: {} and {} have the energies "
                          "{:.12g} and {:.12g}; a smearing occupies both in part",
                          filled, called(below), called(above), below.energy, above.energy),
              result.chemical_potentials);
}

}  // namespace

std::vector<std::vector<int>> ranks_of_points(std::span<const double> costs, int ranks) {
  const std::size_t points = costs.size();
  std::vector<std::vector<int>> result(points);
  std::vector<std::size_t> order(points);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (static_cast<std::size_t>(ranks) < points) {
    std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t k) { return costs[k]; });
    std::vector<double> loads(static_cast<std::size_t>(ranks));
    for (const std::size_t k : order) {
      const auto least = std::ranges::min_element(loads);
      *least += costs[k];
      result[k] = {static_cast<int>(least - loads.begin())};
    }
    return result;
  }
  std::vector<int> counts(points, 1);
  for (int left = ranks - static_cast<int>(points); left > 0 && points > 0; --left) {
    ++counts[*std::ranges::max_element(order, {}, [&](std::size_t k) { return costs[k] / counts[k]; })];
  }
  int first = 0;
  for (std::size_t k = 0; k < points; ++k) {
    for (int i = 0; i < counts[k]; ++i) result[k].push_back(first++);
  }
  return result;
}

std::vector<double> weights_of_points(std::span<const double> given, Index points, int spins) {
  if (points % spins != 0) {
    throw ArgumentError(fmt::format("spins: is 2, but there are {} Hamiltonians, expected an even number", points));
  }
  const Index of_spin = points / spins;
  std::vector<double> weights(given.begin(), given.end());
  if (weights.empty()) weights.assign(static_cast<std::size_t>(of_spin), 1);
  if (std::ssize(weights) != of_spin) {
    throw ArgumentError(
        fmt::format("weights: has {} numbers, expected {}, one for each k-point", weights.size(), of_spin));
  }
  if (of_spin == 0) return weights;
  const double largest = std::ranges::max(weights);  // so that their sum does not overflow
  double sum = 0;
  for (double& weight : weights) {
    if (!(weight > 0) || !std::isfinite(weight)) {
      throw ArgumentError(fmt::format("weights: has {}, expected positive numbers", weight));
    }
    sum += weight /= largest;
  }
  for (double& weight : weights) weight /= sum;
  weights.resize(static_cast<std::size_t>(points));
  if (spins == 2) std::copy_n(weights.begin(), of_spin, weights.begin() + of_spin);
  return weights;
}

PointsFilling fill_points(std::span<const std::vector<double>> energies, std::span<const double> weights, double filled,
                          Smearing smearing, double width) {
  std::vector<PointState> states;
  for (std::size_t k = 0; k < energies.size(); ++k) {
    for (std::size_t i = 0; i < energies[k].size(); ++i) {
      states.push_back({energies[k][i], weights[k], static_cast<Index>(k), static_cast<Index>(i)});
    }
  }
  std::ranges::stable_sort(states, {}, &PointState::energy);
  PointsFilling result;
  std::vector<double> sorted;
  std::vector<double> counts;
  for (const PointState& state : states) sorted.push_back(state.energy), counts.push_back(state.weight);
  const bool is_smeared = smearing != Smearing::none;
  const std::size_t full = is_smeared ? 0 : count_filled(states, filled);
  const Occupations all = is_smeared ? occupy(sorted, filled, smearing, width, counts)
                                     : occupy(sorted, static_cast<double>(full), smearing, width);
  result.entropy = all.entropy;
  result.chemical_potentials = {all.chemical_potential, all.chemical_potential};
  if (!is_smeared) set_frontier(result, states, full);
  result.direct_gap = infinity;
  for (const std::vector<double>& its : energies) {
    Filling& filling = result.of_points.emplace_back();
    filling.occupations.of_states.resize(its.size());
    filling.occupations.chemical_potential = all.chemical_potential;
    filling.chemical_potentials = result.chemical_potentials;
    filling.is_projector = !is_smeared;
  }
  for (std::size_t i = 0; i < states.size(); ++i) {
    const PointState& state = states[i];
    Filling& filling = result.of_points[static_cast<std::size_t>(state.point)];
    const double occupation = all.of_states[i];
    filling.occupations.of_states[static_cast<std::size_t>(state.number)] = occupation;
    filling.filled += occupation;
    filling.energy += occupation * state.energy;
    result.energy += state.weight * occupation * state.energy;
  }
  for (std::size_t k = 0; k < energies.size() && !is_smeared; ++k) {
    const auto its = static_cast<std::size_t>(std::llround(result.of_points[k].filled));
    if (its > 0 && its < energies[k].size())
      result.direct_gap = std::min(result.direct_gap, energies[k][its] - energies[k][its - 1]);
  }
  return result;
}

template <class T>
PointStates<T>::PointStates(mpi::Context& context, std::vector<Index> states)
    : context_(context), states_(std::move(states)) {
  mpi::agreed(context, [&](mpi::Alike& arguments) {
    arguments.add_type<T>();
    arguments.add("points", count());
    std::vector<double> costs;
    for (const Index n : states_) {
      arguments.add("states", n);
      costs.push_back(std::pow(static_cast<double>(n), 3));
    }
    ranks_ = ranks_of_points(costs, context.size());
    for (Index k = 0; k < count(); ++k) {
      expect_eigensolver(layout_in_group(k));
      expect_countable<T>(layout_in_group(k));
    }
    values_.resize(states_.size());
    for (std::size_t k = 0; k < states_.size(); ++k) values_[k].resize(static_cast<std::size_t>(states_[k]));
  });
  const auto works_at = [&](const std::vector<int>& ranks) {
    return std::ranges::find(ranks, context.rank()) != ranks.end();
  };
  cores_ = context.topology().share_of_cores();
  const auto first = std::ranges::find_if(ranks_, works_at);
  const bool works = first != ranks_.end();
  const auto part = context.comm().split(works ? 1 + first->front() : 0, context.rank());
  mpi::agreed(context, [&] {
    if (works) group_ = std::make_unique<mpi::Context>(part.handle());
  });
  mpi::agreed(context, [&] {
    for (Index k = 0; k < count(); ++k) {
      if (!works_at(ranks_of(k))) continue;
      const auto own_layout = layout_in_group(k);
      const int rank = group_->rank();
      own_.push_back({k, Matrix<T>(own_layout, rank), {}, Matrix<T>(own_layout, rank), {}});
    }
  });
}

template <class T>
layout::Layout PointStates<T>::layout_in_group(Index point) const {
  const auto& topology = context_.topology();
  const model::Placement placement{static_cast<int>(std::ssize(ranks_of(point))), topology.ranks_per_node()};
  return eigenstates_layout(states_[static_cast<std::size_t>(point)], placement, topology.cores_per_node());
}

template <class T>
layout::Layout PointStates<T>::layout_of(Index point) const {
  return layout_in_group(point).relabeled(ranks_of(point));
}

template <class T>
typename PointStates<T>::Point* PointStates<T>::own(Index point) {
  const auto found = std::ranges::find(own_, point, &Point::number);
  return found == own_.end() ? nullptr : &*found;
}

template <class T>
template <class F>
void PointStates<T>::at_own_points(F&& f) {
  mpi::agreed(context_, [&] {  // no group waits for another one, and the ranks of each come to one end
    for (Point& point : own_) {
      try {
        f(point);
      } catch (const Error& error) {
        throw_error(error.kind(), fmt::format("point {}: {}", point.number + 1, error.what()));
      }
    }
  });
}

template <class T>
Index PointStates<T>::bytes(bool has_overlap) const {
  Index held = 0;
  Index most = 0;
  for (const Point& point : own_) {
    const Index matrix = point.h.layout().elements_of(group_->rank()) * Index{sizeof(T)};
    held += (has_overlap ? 4 : 3) * matrix;  // h, s, eigenvectors, d
    most = std::max(most, eigenstates_bytes<T>(point.h.layout(), group_->rank(), has_overlap));
  }
  return held + most;
}

template <class T>
void PointStates<T>::set(Index point, const Matrix<T>& h, const Matrix<T>* s) {
  Point* const its = own(point);
  const layout::Layout to = mpi::agreed(context_, [&] {
    if (its != nullptr && s != nullptr) its->s.emplace(its->h.layout(), group_->rank());
    return layout_of(point);
  });
  const auto move = [&](const Matrix<T>& from, Matrix<T>* target) {
    redistribute::Redistribution(context_, from.layout(), to)
        .template execute<T>(T{1}, from.const_tiles(), T{0},
                             target == nullptr ? std::span<const matrix_view<T>>() : target->tiles());
  };
  move(h, its == nullptr ? nullptr : &its->h);
  if (s != nullptr) move(*s, its == nullptr ? nullptr : &*its->s);
}

template <class T>
void PointStates<T>::solve() {
  at_own_points([&](Point& point) {
    point.states.emplace(*group_, point.h, point.s ? &*point.s : nullptr, cores_);
    values_[static_cast<std::size_t>(point.number)] = point.states->values();
  });
  for (Index k = 0; k < count(); ++k) {
    mpi::broadcast(context_.comm(), std::span(values_[static_cast<std::size_t>(k)]), ranks_of(k).front());
  }
}

template <class T>
DensityErrors PointStates<T>::weigh(const PointsFilling& filling) {
  DensityErrors worst;
  at_own_points([&](Point& point) {
    const auto k = static_cast<std::size_t>(point.number);
    const Filling& its = filling.of_points[k];
    point.states->weigh(its.occupations.of_states, point.d);
    const DensityErrors errors =
        density_errors<T>(*group_, values_[k], its, point.h, point.s ? &*point.s : nullptr, point.d);
    if (const auto complaint = errors.complaint(states_[k], point.s.has_value()); !complaint.empty()) {
      throw Error(ErrorKind::other, "the result is no density matrix (" + complaint + ")");
    }
    if (std::abs(errors.trace) > std::abs(worst.trace)) worst.trace = errors.trace;
    worst.idempotency = std::max(worst.idempotency, errors.idempotency);
    worst.commutator = std::max(worst.commutator, errors.commutator);
    worst.energy = std::max(worst.energy, errors.energy);
    worst.norm = std::max(worst.norm, errors.norm);
  });
  std::array<double, 6> all{worst.trace, -worst.trace, worst.idempotency, worst.commutator, worst.energy, worst.norm};
  mpi::all_reduce(context_.comm(), all, mpi::Operation::maximum());
  return {.trace = all[0] > all[1] ? all[0] : -all[1],
          .idempotency = all[2],
          .commutator = all[3],
          .energy = all[4],
          .norm = all[5]};
}

template <class T>
void PointStates<T>::weigh_energies(const PointsFilling& filling) {
  at_own_points([&](Point& point) {
    const auto k = static_cast<std::size_t>(point.number);
    auto weights = mpi::agreed(*group_, [&] { return filling.of_points[k].occupations.of_states; });
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] *= values_[k][i];
    point.states->weigh(weights, point.d);
  });
}

template <class T>
void PointStates<T>::take(Index point, Matrix<T>& d) {
  const Point* const its = own(point);
  const layout::Layout from = mpi::agreed(context_, [&] { return layout_of(point); });
  redistribute::Redistribution(context_, from, d.layout())
      .template execute<T>(T{1}, its == nullptr ? std::span<const matrix_view<const T>>() : its->d.const_tiles(), T{0},
                           d.tiles());
}

template class PointStates<double>;
template class PointStates<std::complex<double>>;

}  // namespace plait::purify
