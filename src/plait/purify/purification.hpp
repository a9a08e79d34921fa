#pragma once

#include <optional>
#include <string>

#include "plait/base/error.hpp"
#include "plait/base/index.hpp"
#include "plait/iterate/solver.hpp"
#include "plait/purify/frontier.hpp"
#include "plait/purify/method.hpp"
#include "plait/purify/occupation.hpp"
#include "plait/purify/powers.hpp"
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
/// With products in single precision, `early`, it begins with these, in half the time, and goes on in double as soon as
/// their rounding would be all that is left. D is a projector then as without, and tr(D H) as right; but what rounding
/// turned D by in its first steps no polynomial of D turns back: it is right to some 1e-6, and commutes with H to some
/// 1e-7 of the spectrum. That is measured in double. Where it cannot tell that D is right to 1e-3, as the gap is
/// less than about 1e-4 of the spectrum, the purification begins again in double, TC2 with what the early steps told
/// of the gap.
///
/// \pre  0 <= occupied <= n
template <class T>
class Purification {
 public:
  /// \throws ArgumentError  on all ranks: `occupied` is not in [0, n]; McWeeny without a chemical potential, or with
  ///                        one outside of the spectrum
  /// \throws NoGap          if all states have one energy
  /// \throws OutOfMemory    on all ranks
  ///
  /// \param early  in the layout of the products; null: all steps are made in double
  Purification(Products<T>& products, const Matrix<T>& h, const Problem& problem, Products<Single<T>>* early = nullptr);

  Purification(const Purification&) = delete;
  Purification& operator=(const Purification&) = delete;

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
  ///                        potential, or of early steps that this one has no products for. The spectrum becomes the
  ///                        one that it began with.
  void resume(const iterate::Checkpoint& checkpoint);

  /// The iterate: D, once `advance` has returned false.
  [[nodiscard]] Matrix<T>& density() noexcept { return powers_.x(); }
  [[nodiscard]] const Matrix<T>& density() const noexcept { return powers_.x(); }
  /// How many products it took since it was made.
  [[nodiscard]] Index multiplications() const noexcept { return powers_.count() + early_multiplications(); }
  /// Those of them in single precision.
  [[nodiscard]] Index early_multiplications() const noexcept { return early_ ? early_->powers.count() : early_count_; }

 private:
  /// What steps in single precision are made of.
  struct Early {
    Early(Products<Single<T>>& products, const Matrix<T>& given, Method method);
    Matrix<Single<T>> h;
    Powers<Single<T>> powers;
  };
  /// f(of the powers that the next step is made of)
  template <class F>
  auto with_powers(F&& f) {
    return early_ ? f(early_->powers) : f(powers_);
  }
  void begin();
  bool leave_early_steps();
  void begin_in_double();
  void begin_again(std::optional<Interval> frontier_within);
  [[nodiscard]] layout::Layout rows() const;
  void narrow_frontier(const Traces& traces);
  [[nodiscard]] Interval occupations_within(Interval energies) const;
  [[nodiscard]] bool has_lost_frontier(const Iterate& iterate, bool is_last) const;
  [[nodiscard]] std::optional<NoGap> missing_gap(const Iterate& iterate);
  [[nodiscard]] bool has_other_count(const Iterate& iterate) const;

  mpi::Context& context_;
  const Matrix<T>& h_;
  State state_;
  Powers<T> powers_;
  std::optional<Early> early_;  // until steps are made in double
  Index early_count_ = 0;       // of products, then
};

}  // namespace plait::purify
