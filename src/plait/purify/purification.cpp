#include "plait/purify/purification.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <new>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "plait/base/contract.hpp"
#include "plait/base/stopwatch.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/purify/allocate.hpp"
#include "plait/purify/elementwise.hpp"
#include "plait/purify/hermitian_part.hpp"
#include "plait/purify/steps.hpp"
#include "plait/redistribute/redistribution.hpp"

namespace plait::purify {

namespace {

/// Energies that are this close, in units of the width of the spectrum, are one to double precision: a gap of 1e-12 is
/// some 4,500 times the distance between two doubles.
constexpr double resolution = 3e-13;

void expect_valid(const Problem& problem, Index states) {
  if (problem.occupied < 0 || problem.occupied > states) {
    throw ArgumentError(
        fmt::format("occupied: is {}, expected 0 to {}, the number of states", problem.occupied, states));
  }
  if (!(problem.frontier_bounds().width() >= 0)) {
    throw ArgumentError(fmt::format(
        "frontier_within: is {} to {}, expected an interval that reaches into the spectrum, {} to {}",
        problem.frontier_within->low, problem.frontier_within->high, problem.spectrum.low, problem.spectrum.high));
  }
  if (problem.method != Method::mcweeny) return;
  if (!problem.chemical_potential) {
    throw ArgumentError("chemical_potential: is missing, which McWeeny's purification begins with");
  }
  const double mu = *problem.chemical_potential;
  if (!(mu > problem.spectrum.low && mu < problem.spectrum.high)) {
    throw ArgumentError(fmt::format("chemical_potential: is {}, expected one within the spectrum, {} to {}", mu,
                                    problem.spectrum.low, problem.spectrum.high));
  }
}

// Before anything is done that depends on the method.
template <class T>
State agreed(mpi::Context& context, const Problem& problem, Index states) {
  mpi::agreed(context, [&](mpi::Alike& arguments) {
    arguments.add_type<T>();
    arguments.add("method", name(problem.method));
    arguments.add("occupied", problem.occupied);
    arguments.add("lower end of the spectrum", problem.spectrum.low);
    arguments.add("upper end of the spectrum", problem.spectrum.high);
    if (problem.chemical_potential) arguments.add("chemical_potential", *problem.chemical_potential);
    arguments.add("most_iterations", problem.most_iterations);
    arguments.add("lower end of frontier_within", problem.frontier_bounds().low);
    arguments.add("upper end of frontier_within", problem.frontier_bounds().high);
    expect_valid(problem, states);
  });
  State state;
  state.problem = problem;
  if (problem.frontier_within) state.problem.frontier_within = problem.frontier_bounds();
  if (problem.method != Method::tc2 || state.problem.frontier_within == problem.spectrum) {
    state.problem.frontier_within.reset();
  }
  return state;
}

template <class T>
constexpr Index doubles_of = Index{sizeof(T) / sizeof(double)};

}  // namespace

template <class T>
Purification<T>::Purification(Products<T>& products, const Matrix<T>& h, const Problem& problem)
    : products_(products),
      h_(h),
      state_(agreed<T>(products.context(), problem, h.layout().shape().rows)),
      x_(allocate<T>(products.context(), products.layout())),
      x2_(allocate<T>(products.context(), products.layout())) {
  static_assert(iterate::Solver<Purification>);
  if (matrices_held(problem.method) > 2) x3_.emplace(allocate<T>(products.context(), products.layout()));
  begin();
}

template <class T>
void Purification<T>::begin() {
  const Index states = h_.layout().shape().rows;
  const Problem& problem = state_.problem;
  if (problem.occupied == 0 || problem.occupied == states) {  // nothing to find out
    blend<T>(problem.occupied == 0 ? 0 : 1, {}, x_);
    state_.shift = problem.occupied == 0 ? 0 : 1;
    return;
  }
  if (!(problem.spectrum.width() > 0)) {
    throw NoGap(fmt::format("no gap: all {} states have the energy {}, and {} of them were to be occupied", states,
                            problem.spectrum.low, problem.occupied),
                problem.spectrum);
  }
  const double mean = trace(products_.context(), h_) / static_cast<double>(states);
  const Occupation start = initial_occupation(problem.method, problem.occupied, states, problem.spectrum, mean,
                                              problem.chemical_potential.value_or(0));
  state_.shift = start.shift;
  state_.slope = start.slope;
  blend<T>(start.shift, {{start.slope, &h_}}, x_);
}

// In the iterate, of the states in `frontier_bounds`; all others are closer to 0 and 1.
template <class T>
Interval Purification<T>::occupations_within() const {
  const Interval energies = state_.problem.frontier_bounds();
  const Occupation occupation = state_.occupation();
  return {std::clamp(occupation.of(energies.high), 0.0, 1.0), std::clamp(occupation.of(energies.low), 0.0, 1.0)};
}

template <class T>
bool Purification<T>::has_lost_frontier(const Iterate& iterate, bool is_last) const {
  const Interval occupations = occupations_within();
  // What lies beyond was folded: in the end it is known to be occupied and empty only if these ends are.
  if (is_last) return occupations.low > 0.1 || occupations.high < 0.9;
  // The lowest empty state and all occupied ones are not below the former, the highest occupied and all empty ones not
  // above the latter.
  const double states = static_cast<double>(h_.layout().shape().rows);
  const double occupied = static_cast<double>(state_.problem.occupied);
  const double rounding = 1e-9 * states;
  constexpr Index most_steps = 100;  // as many as gaps of 1e-12 take
  return (state_.step > most_steps && !iterate.settled) ||
         (occupied + 1) * occupations.low > iterate.trace + rounding ||
         (states - occupied + 1) * (1 - occupations.high) > states - iterate.trace + rounding;
}

template <class T>
void Purification<T>::begin_without_frontier() {
  State fresh;
  fresh.problem = state_.problem;  // takes no memory
  fresh.problem.frontier_within.reset();
  state_ = std::move(fresh);
  begin();
}

template <class T>
std::optional<NoGap> Purification<T>::missing_gap(const Iterate& iterate) {
  if (iterate.settled) return std::nullopt;
  const Problem& problem = state_.problem;
  const Index steps = state_.step - 1;
  const Interval energies = unsettled_energies(state_.occupation(), iterate.idempotency_error, iterate.missing_trace,
                                               problem.spectrum, problem.frontier_bounds());
  constexpr double halfway = 0.1;  // in ‖X - X²‖: some state is still far from 0 and 1
  const bool is_resolved =
      iterate.idempotency_error > halfway && std::abs(energies.width()) < resolution * problem.spectrum.width();
  const bool is_fixed = iterate.idempotency_error == 0;  // all steps leave a projector as it is
  const bool is_final = is_resolved || is_fixed;
  if (!is_final && steps < problem.most_iterations) return std::nullopt;
  // Else all states are at 0 or 1, but too many of one; what is left of others may be too small to be squared.
  const bool are_partly_occupied = !is_fixed && energies.low <= energies.high;
  const std::string found =
      are_partly_occupied
          ? fmt::format("there are partly occupied states between {:.12g} and {:.12g}", energies.low, energies.high)
          : fmt::format("{:.6g} states are occupied", iterate.trace);
  state_.end = is_final ? iterate::End::no_solution : iterate::End::limit;
  state_.reason = fmt::format("no gap{} for {} occupied states of {}: after {} iterations of {}, {}{}",
                              is_final ? "" : " was found", problem.occupied, h_.layout().shape().rows, steps,
                              name(problem.method), found, is_final ? "" : ", and no more were allowed");
  return NoGap(state_.reason, are_partly_occupied ? energies : problem.spectrum);
}

// Only McWeeny's purification does not bring about the trace that is wanted.
template <class T>
void Purification<T>::expect_count(const Iterate& iterate) {
  if (state_.problem.method != Method::mcweeny) return;
  const double below = std::round(iterate.trace);
  if (std::abs(iterate.missing_trace) > 0.1 || iterate.idempotency_error > 0.1 ||
      below == static_cast<double>(state_.problem.occupied)) {
    return;
  }
  state_.end = iterate::End::no_solution;
  state_.reason = fmt::format("chemical_potential: {} has {:.0f} states below it, expected {}",
                              *state_.problem.chemical_potential, below, state_.problem.occupied);
  throw ArgumentError(state_.reason);
}

template <class T>
bool Purification<T>::advance() {
  if (state_.end != iterate::End::none) return false;
  const Stopwatch watch;
  const Problem& problem = state_.problem;
  std::vector<Iterate>& iterates = state_.iterates;
  const bool was_settled = !iterates.empty() && iterates.back().settled;
  const Polynomial last = iterates.empty() ? Polynomial{} : iterates.back().step;
  const bool seeks_trace =
      !was_settled && (last == squaring || last == mirrored_squaring);  // by another one, or a part
  const bool takes_cube =
      (uses_cube(problem.method) || (problem.method == Method::trs4 && was_settled)) && !seeks_trace;
  const bool has_cube = takes_cube && !is_next_to_last(iterates);
  if (has_cube) {
    products_.square_cube(x_, x2_, *x3_);
  } else {
    products_.square(x_, x2_);
  }
  const Measures found = measure(products_.context(), x_, x2_, h_);
  Iterate iterate{found.trace, found.idempotency_error, found.missing_trace, found.energy};
  if (!std::isfinite(iterate.idempotency_error)) {
    throw Error(ErrorKind::other,
                fmt::format("the iterate after {} iterations of {} is not finite: an eigenvalue lies outside "
                            "of the spectrum that was given, {} to {}",
                            iterates.size(), name(problem.method), problem.spectrum.low, problem.spectrum.high));
  }
  iterate.settled = was_settled || is_settled(iterate, problem.occupied);
  ++state_.step;
  state_.error = iterate.idempotency_error;
  bool is_last = false;
  bool has_lost = false;
  std::optional<NoGap> no_gap;
  Polynomial step{};
  mpi::agreed(products_.context(), [&] {  // on the memory that it takes: all ranks come to the same conclusions
    iterates.push_back(iterate);
    is_last = is_converged(iterates);
    if (!is_last) no_gap = missing_gap(iterate);
    has_lost = problem.frontier_within && (no_gap || has_lost_frontier(iterate, is_last));
    if (is_last) state_.reason = fmt::format("the error is {:.3g}, which is what rounding leaves", state_.error);
    step = next_step(problem.method, {found.trace, found.trace - found.missing_trace, found.third, found.fourth},
                     problem.occupied, iterate.settled, last, occupations_within());
  });
  if (!is_last) expect_count(iterate);
  if (has_lost) {
    begin_without_frontier();
    return advance();
  }
  if (is_last) {
    iterates.back().seconds = watch.seconds();
    state_.end = iterate::End::converged;
    return false;
  }
  if (no_gap) throw *no_gap;
  iterates.back().step = step;
  take(step, has_cube);
  iterates.back().seconds = watch.seconds();
  return true;
}

template <class T>
layout::Layout Purification<T>::rows() const {
  return layout::Layout::rows(x_.layout().shape(), products_.context().size());
}

template <class T>
void Purification<T>::save(iterate::Checkpoint& checkpoint) const {
  mpi::Context& context = products_.context();
  auto slab = allocate<T>(context, rows());
  redistribute::Redistribution(context, x_.layout(), slab.layout()).execute(x_, slab);
  mpi::agreed(context, [&] {
    state_.save(checkpoint);
    std::vector<double>& x = checkpoint.by_rank["x"];
    x.reserve(static_cast<std::size_t>(slab.layout().elements_of(context.rank()) * doubles_of<T>));
    for (const auto& tile : slab.const_tiles()) {
      const auto* const first = reinterpret_cast<const double*>(tile.data());
      x.insert(x.end(), first, first + tile.span() * doubles_of<T>);
    }
  });
}

template <class T>
void Purification<T>::resume(const iterate::Checkpoint& checkpoint) {
  mpi::Context& context = products_.context();
  auto slab = allocate<T>(context, rows());
  mpi::agreed(context, [&] {
    State state = State::of(checkpoint, state_.problem);
    const std::vector<double>& x = iterate::vector_of(checkpoint.by_rank, "x");
    const Index elements = slab.layout().elements_of(context.rank()) * doubles_of<T>;
    if (std::ssize(x) != elements) {
      throw ArgumentError(fmt::format("the state has {} numbers of x, expected {}", x.size(), elements));
    }
    auto from = x.begin();
    for (const auto& tile : slab.tiles()) {
      const Index length = tile.span() * doubles_of<T>;
      std::copy(from, from + length, reinterpret_cast<double*>(tile.data()));
      from += length;
    }
    state_ = std::move(state);
  });
  redistribute::Redistribution(context, slab.layout(), x_.layout()).execute(slab, x_);
}

template <class T>
void Purification<T>::follow_frontier() {
  constexpr double clear = 0.045;  // each x(1 - x) is at most twice that after the next step, and told apart
  const Iterate& last = state_.iterates.back();
  if (!last.settled || last.idempotency_error > clear || is_next_to_last(state_.iterates)) return;
  if (state_.frontier.is_resolved(state_.problem.spectrum.width())) return;
  const Occupation occupation = mpi::agreed(products_.context(), [&] {
    Occupation so_far = state_.occupation();
    so_far.steps.push_back(last.step);
    return so_far;
  });
  const Interval within = state_.problem.frontier_bounds();
  const Interval spectrum = state_.problem.spectrum;
  Frontier found = frontier_of_iterate(products_.context(), x_, occupation, within);
  // At an end of the interval in which it is expected, a state may as well be beyond.
  const double rounding = 2e-6 * within.width();
  if (within.low > spectrum.low && found.highest_occupied < within.low + rounding)
    found.occupied_error = Frontier().occupied_error;
  if (within.high < spectrum.high && found.lowest_empty > within.high - rounding)
    found.empty_error = Frontier().empty_error;
  improve(state_.frontier, found);
}

template <class T>
Frontier Purification<T>::frontier() {
  const Interval none = mpi::agreed(products_.context(), [&] { return state_.chemical_potentials(); });
  const double width = state_.problem.spectrum.width();
  if (!state_.frontier.is_resolved(width)) {
    const double tolerance = std::max(1e-7 * none.width(), 1e-15 * width);
    improve(state_.frontier, frontier_of_density(products_.context(), h_, x_, tolerance));
  }
  Frontier result = state_.frontier;
  if (none.low <= none.high) {
    result.occupied_error = std::clamp(none.low - result.highest_occupied, 0.0, result.occupied_error);
    result.empty_error = std::clamp(result.lowest_empty - none.high, 0.0, result.empty_error);
  }
  return result;
}

template <class T>
void Purification<T>::take(const Polynomial& step, bool has_cube) {
  const double fourth = step[4];
  if (fourth == 0) {
    if (step[3] != 0 && !has_cube) products_.multiply(x_, x2_, *x3_);
    const std::array<Term<T>, 3> terms{{{step[1], &x_}, {step[2], &x2_}, {step[3], x3_ ? &*x3_ : nullptr}}};
    blend<T>(step[0], std::span(terms).first(x3_ ? 3 : 2), x_);
    return;
  }
  // c2 X² + c3 X³ + c4 X⁴ is one product beyond X². As a square, c4 (X² + kX)² + (c2 - c4 k²) X², it takes what squares
  // have for symmetry; where c4 is small, that would magnify rounding errors.
  PLAIT_ASSERT(step[0] == 0 && step[1] == 0, "a polynomial of order 4 begins with x²");
  if (std::abs(fourth) < 0.5) {
    blend<T>(step[2], {{step[3], &x_}, {fourth, &x2_}}, *x3_);
    products_.multiply(x2_, *x3_, x_);
    // It is Hermitian to rounding only, and products that rely on it would magnify that in each step of a small gap.
    take_adjoint(products_.context(), x_, *x3_);
    take_hermitian_part(x_, *x3_);
    return;
  }
  const double k = step[3] / (2 * fourth);
  blend<T>(0, {{k, &x_}, {1, &x2_}}, *x3_);
  products_.square(*x3_, x_);
  blend<T>(0, {{fourth, &x_}, {step[2] - fourth * k * k, &x2_}}, x_);
}

template class Purification<double>;
template class Purification<std::complex<double>>;

}  // namespace plait::purify
