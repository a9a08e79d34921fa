#pragma once

#include <optional>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/iterate/solver.hpp"
#include "plait/purify/frontier.hpp"
#include "plait/purify/method.hpp"
#include "plait/purify/occupation.hpp"

namespace plait::purify {

/// What is to be computed: the projector onto the `occupied` lowest states.
struct Problem {
  Method method = Method::canonical;
  Index occupied = 0;
  Interval spectrum{};                         ///< holds all eigenvalues of the Hamiltonian
  std::optional<double> chemical_potential{};  ///< for McWeeny
  Index most_iterations = 300;
  /// Where the highest occupied and the lowest empty state are expected: TC2, and no other method, takes fewer steps
  /// then than by what traces tell of them. If they are not in there, the steps tell it in the end, and it begins again
  /// without.
  std::optional<Interval> frontier_within{};

  /// The same, as far as it is in the spectrum.
  [[nodiscard]] Interval frontier_bounds() const noexcept;
};

/// How far an iteration is: with the iterate itself all that it needs to go on with the same bits. The error is the
/// iterate's ‖X - X²‖.
struct State : iterate::State {
  Problem problem;
  double shift = 0;  ///< X was shift + slope·H at first
  double slope = 0;
  std::vector<Iterate> iterates{};  ///< of all but the last one the step that led to the next
  Frontier frontier{};              ///< as far as iterates told it
  bool is_early = false;            ///< the next step is in single precision
  Index early_steps = 0;            ///< so were the first, where the next one is in double

  /// By the first steps, or all; as long as the state stays as it is.
  [[nodiscard]] Occupation occupation_after(std::size_t steps) const noexcept {
    return {shift, slope, std::span(iterates).first(steps)};
  }
  [[nodiscard]] Occupation occupation() const noexcept {
    return occupation_after(iterates.empty() ? 0 : iterates.size() - 1);
  }
  /// Where the states at the gap are, as is known so far; occupations fall in it.
  [[nodiscard]] Interval frontier_within() const noexcept {
    return iterates.empty() ? problem.frontier_bounds() : iterates.back().frontier;
  }
  [[nodiscard]] bool began_early() const noexcept { return is_early || early_steps > 0; }
  /// How far energies may be off, as rounding of early steps moved them.
  [[nodiscard]] double noise() const noexcept { return began_early() ? 3e-6 * problem.spectrum.width() : 0; }
  /// Whether the states at the gap are as well known as steps tell them.
  [[nodiscard]] bool is_frontier_resolved() const noexcept;
  /// What one iterate tells of the energies without states between the occupied and the empty ones: any chemical
  /// potential in the interval is right. Empty (low > high) if it tells of none.
  [[nodiscard]] Interval chemical_potentials_of(std::size_t iterate) const noexcept;
  /// What all of them tell together.
  [[nodiscard]] Interval chemical_potentials() const noexcept;

  void save(iterate::Checkpoint& checkpoint) const;
  /// \throws ArgumentError  it is of another problem, but for the spectrum and the limit
  [[nodiscard]] static State of(const iterate::Checkpoint& checkpoint, const Problem& problem);
};

}  // namespace plait::purify
