#include "plait/purify/state.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"

namespace plait::purify {

namespace {

/// All of an iterate but its error.
std::array<double, 12> numbers_of(const Iterate& iterate) {
  const auto& [trace, error, missing_trace, energy, settled, step, seconds, frontier] = iterate;
  return {trace,   missing_trace, energy,  settled ? 1.0 : 0.0, step[0],      step[1], step[2],
          step[3], step[4],       seconds, frontier.low,        frontier.high};
}

Iterate iterate_of(double error, std::span<const double, 12> numbers) {
  return {numbers[0],      error,
          numbers[1],      numbers[2],
          numbers[3] != 0, {numbers[4], numbers[5], numbers[6], numbers[7], numbers[8]},
          numbers[9],      {numbers[10], numbers[11]}};
}

/// What is the same in all states of a problem.
std::map<std::string, double> numbers_of(const Problem& problem) {
  std::map<std::string, double> numbers{{"method", static_cast<double>(problem.method)},
                                        {"occupied", static_cast<double>(problem.occupied)}};
  if (problem.chemical_potential) numbers["chemical_potential"] = *problem.chemical_potential;
  return numbers;
}

/// Calls f(name, number) for all others, with the interval in which the gap is expected.
template <class AnyState, class AnyInterval, class F>
void for_each_number(AnyState& state, AnyInterval& frontier_within, F&& f) {
  f("spectrum.low", state.problem.spectrum.low);
  f("spectrum.high", state.problem.spectrum.high);
  f("frontier.low", frontier_within.low);
  f("frontier.high", frontier_within.high);
  f("shift", state.shift);
  f("slope", state.slope);
  f("early_steps", state.early_steps);
  f("is_early", state.is_early);
}

}  // namespace

void State::save(iterate::Checkpoint& checkpoint) const {
  checkpoint.numbers = numbers_of(problem);
  const Interval frontier_within = problem.frontier_bounds();
  for_each_number(*this, frontier_within, [&](const char* name, const auto& number) {
    checkpoint.numbers[name] = static_cast<double>(number);
  });
  checkpoint.shared["frontier"] = {frontier.highest_occupied, frontier.occupied_error, frontier.lowest_empty,
                                   frontier.empty_error};
  std::vector<double>& errors = checkpoint.shared["errors"];
  std::vector<double>& numbers = checkpoint.shared["iterates"];
  // At the end the last one, which has led to no other, is looked at again.
  const bool has_ended = end != iterate::End::none;
  for (const Iterate& iterate : std::span(iterates).first(iterates.size() - (has_ended ? 1 : 0))) {
    errors.push_back(iterate.idempotency_error);
    std::ranges::copy(numbers_of(iterate), std::back_inserter(numbers));
  }
}

State State::of(const iterate::Checkpoint& checkpoint, const Problem& problem) {
  State state;
  state.problem = problem;
  const auto number = [&](const std::string& name) {
    const auto found = checkpoint.numbers.find(name);
    return found == checkpoint.numbers.end() ? std::nullopt : std::optional(found->second);
  };
  Interval& frontier_within = state.problem.frontier_within.emplace();
  for_each_number(state, frontier_within, [&]<class Number>(const char* name, Number& target) {
    const auto value = number(name);
    if (!value) throw ArgumentError(fmt::format("the state has no {}, expected one of a purification", name));
    target = static_cast<Number>(*value);
  });
  if (frontier_within == state.problem.spectrum) state.problem.frontier_within.reset();
  const auto wanted = numbers_of(problem);
  for (const char* const name : {"method", "occupied", "chemical_potential"}) {
    const auto here = wanted.find(name);
    if (number(name) == (here == wanted.end() ? std::nullopt : std::optional(here->second))) continue;
    throw ArgumentError(fmt::format("the state is of another problem: its {} differs", name));
  }
  const auto& errors = iterate::vector_of(checkpoint.shared, "errors");
  const auto& frontier = iterate::vector_of(checkpoint.shared, "frontier");
  std::span<const double> iterates = iterate::vector_of(checkpoint.shared, "iterates");
  constexpr std::size_t each = std::tuple_size_v<decltype(numbers_of(Iterate()))>;
  if (iterates.size() != each * errors.size() || frontier.size() != 4) {
    throw ArgumentError(fmt::format("the state has {} numbers of {} iterates and {} of the gap, expected {} and 4",
                                    iterates.size(), errors.size(), frontier.size(), each * errors.size()));
  }
  for (const double error : errors) {
    state.iterates.push_back(iterate_of(error, iterates.first<each>()));
    iterates = iterates.subspan(each);
  }
  state.frontier = {frontier[0], frontier[1], frontier[2], frontier[3]};
  state.step = std::ssize(errors);
  state.error = errors.empty() ? 0 : errors.back();
  return state;
}

Interval Problem::frontier_bounds() const noexcept {
  const Interval given = frontier_within.value_or(spectrum);
  return {std::max(given.low, spectrum.low), std::min(given.high, spectrum.high)};
}

bool State::is_frontier_resolved() const noexcept {
  if (!began_early()) return frontier.is_resolved(problem.spectrum.width());
  return std::isfinite(frontier.occupied_error) && std::isfinite(frontier.empty_error);
}

Interval State::chemical_potentials_of(std::size_t number) const noexcept {
  const double least_error = began_early() ? 1e-3 : 1e-10;  // smaller ones may consist of rounding
  constexpr double rounding = 1e-13;  // of errors: where the map is flat, the last digits of one are far in energies
  const Iterate& iterate = iterates[number];
  // Before, there may be an interval without states, but below it another number of them.
  if (!iterate.settled) return {problem.spectrum.high, problem.spectrum.low};
  const double error = std::max(iterate.idempotency_error, least_error) + rounding;
  const Interval found = energies_of_no_state(occupation_after(number), error, frontier_within());
  return {found.low + noise(), found.high - noise()};
}

Interval State::chemical_potentials() const noexcept {
  Interval result{problem.spectrum.high, problem.spectrum.low};
  for (std::size_t i = 0; i < iterates.size(); ++i) {
    const Interval found = chemical_potentials_of(i);
    result = {std::min(result.low, found.low), std::max(result.high, found.high)};
  }
  return result;
}

}  // namespace plait::purify
