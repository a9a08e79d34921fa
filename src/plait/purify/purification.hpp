#pragma once

#include <optional>
#include <string>

#include "plait/base/error.hpp"
#include "plait/base/index.hpp"
#include "plait/iterate/solver.hpp"
#include "plait/purify/frontier.hpp"
#include "plait/purify/method.hpp"
#include "plait/purify/occupation.hpp"
#include "plait/purify/products.hpp"
#include "plait/purify/state.hpp"

namespace plait::purify {

/// There is no gap between the occupied and the empty states that the iteration could resolve.
class NoGap : public Error {
 public:
  NoGap(const std::string& text, Interval interval) : Error(ErrorKind::other, text), interval_(interval) {}
  /// Where states are that stayed partly occupied.
  [[nodiscard]] Interval interval() const noexcept { return interval_; }

 private:
  Interval interval_;
};

/// Computes the density matrix  D = θ(µ - H)  of a Hermitian H: the projector onto its lowest eigenvectors, by
/// polynomials of H alone.
///
///     Purification<double> purification(products, h, problem);
///     while (purification.advance()) purification.follow_frontier();
///     use(purification.density());
///
/// Each step costs one or two products; the iteration ends where rounding does (`is_converged`). Everything is
/// collective over the context of the products, which outlive this.
///
/// \pre  0 <= occupied <= n
template <class T>
class Purification {
 public:
  /// \throws ArgumentError  on all ranks: `occupied` is not in [0, n]; McWeeny without a chemical potential, or with
  ///                        one outside of the spectrum
  /// \throws NoGap          if all states have one energy
  /// \throws OutOfMemory    on all ranks
  Purification(Products<T>& products, const Matrix<T>& h, const Problem& problem);

  /// Looks at the iterate and makes the next of it; false, and nothing is made, if it is as good as rounding allows.
  ///
  /// \throws NoGap          states stay partly occupied, although the steps tell energies apart that differ by a
  ///                        rounding error (`state().end` is then `no_solution`), or for `most_iterations` (`limit`)
  /// \throws ArgumentError  there are more or fewer than `occupied` states below the chemical potential
  /// \throws OutOfMemory    on all ranks; it can't go on then
  bool advance();

  /// To be called after each `advance`, if the `frontier` is wanted: the few iterates in which the states at the gap
  /// stand out tell them at the cost of some products with vectors; afterwards it may take thousands.
  void follow_frontier();
  /// The states at the gap, with bounds of their errors that never contradict `chemical_potentials`.
  /// \pre  `advance` has returned false
  [[nodiscard]] Frontier frontier();

  [[nodiscard]] const State& state() const noexcept { return state_; }
  /// What another purification of the same h goes on from, on any number of ranks; on as many in the same layout, with
  /// the same bits; where `most_iterations` ended it, with a larger one. The iterate is kept as `Layout::rows`, complex
  /// numbers as two.
  ///
  /// \throws OutOfMemory    on all ranks
  void save(iterate::Checkpoint& checkpoint) const;
  /// \throws ArgumentError  on all ranks: it is of another method, size, number of occupied states or chemical
  ///                        potential. The spectrum becomes the one that it began with.
  void resume(const iterate::Checkpoint& checkpoint);

  /// The iterate: D, once `advance` has returned false.
  [[nodiscard]] Matrix<T>& density() noexcept { return x_; }
  [[nodiscard]] const Matrix<T>& density() const noexcept { return x_; }
  /// How many products it took since it was made.
  [[nodiscard]] Index multiplications() const noexcept { return products_.count(); }

 private:
  void begin();
  [[nodiscard]] layout::Layout rows() const;
  [[nodiscard]] Interval occupations_within() const;
  [[nodiscard]] bool has_lost_frontier(const Iterate& iterate, bool is_last) const;
  void begin_without_frontier();
  [[nodiscard]] std::optional<NoGap> missing_gap(const Iterate& iterate);
  void expect_count(const Iterate& iterate);
  void take(const Polynomial& step, bool has_cube);

  CountedProducts<T> products_;
  const Matrix<T>& h_;
  State state_;
  Matrix<T> x_;
  Matrix<T> x2_;
  std::optional<Matrix<T>> x3_;  // or whatever else is needed on the way
};

/// The matrices of the layout that a purification holds beside H.
[[nodiscard]] constexpr Index matrices_held(Method method) noexcept { return method == Method::tc2 ? 2 : 3; }

}  // namespace plait::purify
