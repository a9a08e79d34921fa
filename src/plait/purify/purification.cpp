#include "plait/purify/purification.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <exception>
#include <new>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "plait/base/contract.hpp"
#include "plait/base/stopwatch.hpp"
#include "plait/iterate/course.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/purify/elementwise.hpp"
#include "plait/purify/method.hpp"
#include "plait/purify/products.hpp"
#include "plait/purify/spectrum.hpp"
#include "plait/redistribute/redistribution.hpp"

namespace plait::purify {

namespace {

/// Energies that are this close, in units of the width of the spectrum, are one to double precision: a gap of 1e-12 is
/// some 4,500 times the distance between two doubles.
constexpr double resolution = 3e-13;

/// Bounds lie beyond the energies by 1e-12 of the largest one on both sides.
bool has_one_energy(Interval spectrum) {
  return !(spectrum.width() > 4e-12 * std::max(std::abs(spectrum.low), std::abs(spectrum.high)));
}

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
  if (problem.method != Method::mcweeny || has_one_energy(problem.spectrum)) return;
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
State agreed(mpi::Context& context, const Problem& problem, Index states, bool begins_early) {
  mpi::agreed(context, [&](mpi::Alike& arguments) {
    arguments.add_type<T>();
    arguments.add("early is given", begins_early);
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

/// What a rank has of a matrix cut by rows; complex numbers are two.
template <class T>
std::span<double> numbers_of(Matrix<T>& slab) {
  if (slab.tiles().empty()) return {};
  const auto& tile = slab.tiles()[0];
  return {reinterpret_cast<double*>(tile.data()), static_cast<std::size_t>(tile.span()) * sizeof(T) / sizeof(double)};
}

/// Steps in single precision end with an iterate whose error e becomes 4e² = 1e-4 at most by the last one, and rounding
/// by two in double: from what single precision leaves it takes as many.
constexpr double early_error = 5e-3;
constexpr double least_early_error = 1e-3;      // by which states at the gap are told from rounding
constexpr double most_early_commutator = 1e-6;  // in widths of the spectrum
constexpr double most_early_loss = 1e-3;        // of D

}  // namespace

template <class T>
Purification<T>::Early::Early(Products<Single<T>>& products, const Matrix<T>& given, Method method)
    : h(allocate<Single<T>>(products.context(), products.layout())), powers(products, h, method) {
  convert(given, h);
}

template <class T>
Purification<T>::Purification(Products<T>& products, const Matrix<T>& h, const Problem& problem,
                              Products<Single<T>>* early)
    : context_(products.context()),
      h_(h),
      state_(agreed<T>(context_, problem, h.layout().shape().rows, early != nullptr)),
      powers_(products, h, problem.method) {
  static_assert(iterate::Solver<Purification>);
  PLAIT_ASSERT(early == nullptr || early->layout() == products.layout(), "one layout");
  const bool has_steps = problem.occupied > 0 && problem.occupied < h.layout().shape().rows;
  if (early != nullptr && has_steps) early_.emplace(*early, h, problem.method);
  begin();
}

template <class T>
void Purification<T>::begin() {
  const Index states = h_.layout().shape().rows;
  const Problem& problem = state_.problem;
  if (problem.occupied == 0 || problem.occupied == states) {  // nothing to find out
    state_.shift = problem.occupied == 0 ? 0 : 1;
    powers_.begin(state_.shift, 0);
    return;
  }
  if (has_one_energy(problem.spectrum)) {
    throw NoGap(
        fmt::format("no gap: all {} states have the energy {:.6g} to rounding, and {} of them were to be occupied",
                    states, problem.spectrum.low, problem.occupied),
        problem.spectrum);
  }
  const double mean = trace(context_, h_) / static_cast<double>(states);
  const Occupation start = initial_occupation(problem.method, problem.occupied, states, problem.spectrum, mean,
                                              problem.chemical_potential.value_or(0));
  state_.shift = start.shift;
  state_.slope = start.slope;
  state_.is_early = early_.has_value();
  with_powers([&](auto& powers) { powers.begin(start.shift, start.slope); });
}

// By what the last iterate's traces tell of the states at the gap. Those of early steps are not as sure, and states
// at the gap that these fold are not told as well.
template <class T>
void Purification<T>::narrow_frontier(const Traces& traces) {
  Iterate& last = state_.iterates.back();
  if (state_.problem.method != Method::tc2 || last.settled || early_) return;
  const Interval found = frontier_of_traces(traces, state_.problem.occupied, h_.layout().shape().rows);
  const Occupation occupation = state_.occupation();
  const Interval within = last.frontier;
  const double rounding = 1e-14 * state_.problem.spectrum.width();
  if (found.low > 0) last.frontier.high = std::min(within.high, occupation.energy_of(found.low, within) + rounding);
  if (found.high < 1) last.frontier.low = std::max(within.low, occupation.energy_of(found.high, within) - rounding);
}

// In the iterate, of the states in an interval that holds those at the gap; all others are closer to 0 and 1.
template <class T>
Interval Purification<T>::occupations_within(Interval energies) const {
  const Occupation occupation = state_.occupation();
  return {std::clamp(occupation.of(energies.high), 0.0, 1.0), std::clamp(occupation.of(energies.low), 0.0, 1.0)};
}

template <class T>
bool Purification<T>::has_lost_frontier(const Iterate& iterate, bool is_last) const {
  const Interval occupations = occupations_within(state_.problem.frontier_bounds());
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
void Purification<T>::begin_again(std::optional<Interval> frontier_within) {
  State fresh;
  fresh.problem = state_.problem;  // takes no memory
  fresh.problem.frontier_within = frontier_within;
  state_ = std::move(fresh);
  begin();
}

template <class T>
void Purification<T>::begin_in_double() {
  if (early_) early_count_ = early_->powers.count();
  early_.reset();
  const Interval none = state_.chemical_potentials();
  std::optional<Interval> gap;
  if (state_.problem.method == Method::tc2 && none.width() > 0) {
    // Where a state at the gap was not told it is within a width of it, as likely as not; the steps find out.
    const Frontier& found = state_.frontier;
    gap = {std::isfinite(found.occupied_error) ? found.highest_occupied : none.low - none.width(),
           std::isfinite(found.empty_error) ? found.lowest_empty : none.high + none.width()};
  }
  begin_again(gap);
}

// False: it had to begin again, as D would not be as right as it should.
template <class T>
bool Purification<T>::leave_early_steps() {
  convert(early_->powers.x(), powers_.x());
  powers_.make_hermitian();
  early_count_ = early_->powers.count();
  early_.reset();
  state_.is_early = false;
  state_.early_steps = std::ssize(state_.iterates);
  const double width = state_.problem.spectrum.width();
  const double error = commutator_error(context_, h_, powers_.x()) / width;
  const double gap = state_.chemical_potentials().width();
  if (error <= most_early_commutator && error * width <= most_early_loss * gap) return true;
  begin_in_double();
  return false;
}

template <class T>
std::optional<NoGap> Purification<T>::missing_gap(const Iterate& iterate) {
  if (iterate.settled) return std::nullopt;
  const Problem& problem = state_.problem;
  const Index steps = state_.step - 1;
  const Interval energies = unsettled_energies(state_.occupation(), iterate.idempotency_error, iterate.missing_trace,
                                               problem.spectrum, state_.frontier_within());
  constexpr double halfway = 0.1;  // in ‖X - X²‖: some state is still far from 0 and 1
  const bool is_resolved =
      iterate.idempotency_error > halfway && std::abs(energies.width()) < resolution * problem.spectrum.width();
  const bool is_fixed = iterate.idempotency_error == 0;  // all steps leave a projector as it is
  const bool is_final = is_resolved || is_fixed;
  if (!is_final && steps < problem.most_iterations) return std::nullopt;
  // Else all states are at 0 or 1, but too many of one; what is left of others may be too small to be squared.
  const bool are_partly_occupied = !is_fixed && energies.low <= energies.high;
  const std::string low = fmt::format("{:.12g}", energies.low), high = fmt::format("{:.12g}", energies.high);
  const std::string place = low == high ? "at " + low : fmt::format("between {} and {}", low, high);
  const std::string found = are_partly_occupied ? fmt::format("there are partly occupied states {}", place)
                                                : fmt::format("{:.6g} states are occupied", iterate.trace);
  state_.end = is_final ? iterate::End::no_solution : iterate::End::limit;
  state_.reason = fmt::format("no gap{} for {} occupied states of {}: after {} iterations of {}, {}{}",
                              is_final ? "" : " was found", problem.occupied, h_.layout().shape().rows, steps,
                              name(problem.method), found, is_final ? "" : ", and no more were allowed");
  return NoGap(state_.reason, are_partly_occupied ? energies : problem.spectrum);
}

// Only McWeeny's purification does not bring about the trace that is wanted.
template <class T>
bool Purification<T>::has_other_count(const Iterate& iterate) const {
  return state_.problem.method == Method::mcweeny && std::abs(iterate.missing_trace) <= 0.1 &&
         iterate.idempotency_error <= 0.1 && std::round(iterate.trace) != static_cast<double>(state_.problem.occupied);
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
  const bool looks_ahead = takes_cube && !is_next_to_last(iterates);
  const Measures found = with_powers([&](auto& powers) { return powers.look(looks_ahead); });
  Iterate iterate{found.trace, found.idempotency_error, found.missing_trace, found.energy};
  if (!std::isfinite(iterate.idempotency_error)) {
    if (early_) {  // rounding in single precision moved an eigenvalue out of [0, 1]
      begin_in_double();
      return advance();
    }
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
  const Traces traces{found.trace, found.trace - found.missing_trace, found.third, found.fourth};
  iterate.frontier = state_.frontier_within();
  constexpr double unit = 1e-9;  // of times that ride along
  std::array<Index, 1> least{iterates.empty() ? 0 : -std::llround(iterates.back().seconds / unit)};
  std::exception_ptr failure;  // for lack of memory, else all ranks come to the same conclusions
  try {
    iterates.push_back(iterate);
    narrow_frontier(traces);
    is_last = is_converged(std::span(iterates).subspan(static_cast<std::size_t>(state_.early_steps)));
    if (!is_last) no_gap = missing_gap(iterate);
    has_lost = problem.frontier_within && (no_gap || has_lost_frontier(iterate, is_last));
    if (is_last) state_.reason = fmt::format("the error is {:.3g}, which is what rounding leaves", state_.error);
    step = next_step(problem.method, traces, problem.occupied, iterate.settled, last,
                     occupations_within(state_.frontier_within()));
  } catch (...) {
    failure = std::current_exception();
  }
  mpi::agree(context_, failure, least);
  if (iterates.size() > 1) iterates[iterates.size() - 2].seconds = -unit * static_cast<double>(least[0]);
  const bool is_wrong = !is_last && has_other_count(iterate);
  if (early_ && (no_gap || is_wrong)) {  // which single precision may not tell
    begin_in_double();
    return advance();
  }
  if (is_wrong) {
    state_.end = iterate::End::no_solution;
    state_.reason = fmt::format("chemical_potential: {} has {:.0f} states below it, expected {}",
                                *problem.chemical_potential, std::round(iterate.trace), problem.occupied);
    throw ArgumentError(state_.reason);
  }
  if (has_lost) {
    begin_again(std::nullopt);
    return advance();
  }
  if (is_last && early_) {  // looks at it again in double
    iterates.pop_back();
    --state_.step;
    leave_early_steps();
    return advance();
  }
  if (is_last) {
    iterates.back().seconds = watch.seconds();
    state_.end = iterate::End::converged;
    return false;
  }
  if (no_gap) throw *no_gap;
  iterates.back().step = step;
  with_powers([&](auto& powers) { powers.take(step); });
  const bool ends_early_steps = early_ && iterate.settled && iterate.idempotency_error < early_error;
  iterates.back().seconds = watch.seconds();
  return !ends_early_steps || leave_early_steps() || advance();
}

template <class T>
layout::Layout Purification<T>::rows() const {
  return layout::Layout::rows(h_.layout().shape(), context_.size());
}

template <class T>
void Purification<T>::save(iterate::Checkpoint& checkpoint) const {
  mpi::Context& context = context_;
  auto slab = allocate<T>(context, rows());
  std::optional<Matrix<T>> widened;
  if (early_) convert(early_->powers.x(), widened.emplace(allocate<T>(context, h_.layout())));
  const Matrix<T>& iterate = widened ? *widened : powers_.x();
  redistribute::Redistribution(context, iterate.layout(), slab.layout()).execute(iterate, slab);
  mpi::agreed(context, [&] {
    state_.save(checkpoint);
    const auto x = numbers_of(slab);
    checkpoint.by_rank["x"].assign(x.begin(), x.end());
  });
}

template <class T>
void Purification<T>::resume(const iterate::Checkpoint& checkpoint) {
  mpi::Context& context = context_;
  auto slab = allocate<T>(context, rows());
  mpi::agreed(context, [&](mpi::Alike& alike) {
    iterate::name_arguments(checkpoint, alike);
    State state = State::of(checkpoint, state_.problem);
    if (state.is_early && !early_) {
      throw ArgumentError("the state is of steps in single precision, expected products for them");
    }
    const std::vector<double>& x = iterate::vector_of(checkpoint.by_rank, "x");
    const auto own = numbers_of(slab);
    if (x.size() != own.size()) {
      throw ArgumentError(fmt::format("the state has {} numbers of x, expected {}", x.size(), own.size()));
    }
    std::ranges::copy(x, own.begin());
    state_ = std::move(state);
  });
  redistribute::Redistribution(context, slab.layout(), h_.layout()).execute(slab, powers_.x());
  if (state_.is_early) {
    convert(powers_.x(), early_->powers.x());
  } else {
    early_.reset();
  }
}

template <class T>
void Purification<T>::follow_frontier() {
  constexpr double clear = 0.045;  // each x(1 - x) is at most twice that after the next step, and told apart
  const Iterate& last = state_.iterates.back();
  if (!last.settled || last.idempotency_error > clear || is_next_to_last(state_.iterates)) return;
  if (state_.is_frontier_resolved()) return;
  const double states = static_cast<double>(h_.layout().shape().rows);
  const double noise = state_.began_early() ? 1e-6 + 1.5e-7 * std::sqrt(states) : 1e-15;  // of eigenvalues of iterates
  if (state_.began_early() && last.idempotency_error < least_early_error) return;
  if (early_) convert(early_->powers.x(), powers_.x());
  const Occupation occupation = state_.occupation_after(state_.iterates.size());
  const Interval within = state_.frontier_within();
  const Interval spectrum = state_.problem.spectrum;
  Frontier found = frontier_of_iterate(context_, powers_.x(), occupation, within, noise).widened(state_.noise());
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
  const Interval none = state_.chemical_potentials();
  const double width = state_.problem.spectrum.width();
  if (!state_.is_frontier_resolved()) {
    const double tolerance = std::max(1e-7 * none.width(), 1e-15 * width);
    improve(state_.frontier, frontier_of_density(context_, h_, powers_.x(), tolerance).widened(state_.noise()));
  }
  Frontier result = state_.frontier;
  if (none.low <= none.high) {
    result.occupied_error = std::clamp(none.low - result.highest_occupied, 0.0, result.occupied_error);
    result.empty_error = std::clamp(result.lowest_empty - none.high, 0.0, result.empty_error);
  }
  return result;
}

template class Purification<double>;
template class Purification<std::complex<double>>;

}  // namespace plait::purify
