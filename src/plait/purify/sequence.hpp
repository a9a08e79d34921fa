#pragma once

#include <optional>

#include "plait/purify/purification.hpp"
#include "plait/purify/spectrum.hpp"

namespace plait::purify {

/// Density matrices of one Hamiltonian after another, each near to the one before, as in a self-consistent field.
///
///     Sequence<double> sequence(products);
///     for (bool goes_on = true; goes_on;) {
///       Purification<double>& purification = sequence.begin(hamiltonian_of(density), problem);
///       while (purification.advance()) purification.follow_frontier();
///       goes_on = update(density, purification.density());
///     }
///
/// No eigenvalue moves further than ‖H - H'‖ from one to the next (Weyl). So the former spectrum, and the former states
/// at the gap where `follow_frontier` found them, bound the next ones before a step is made: there is no Lanczos for
/// the spectrum as long as it moves by less than 1 % of its width, and TC2 takes fewer steps. D is as right as
/// without, however far H moves. Everything is collective over the context of the products, which outlive
/// this.
///
/// Source: Rubensson, Zahedi, "Computation of interior eigenvalues in electronic structure calculations facilitated by
/// density matrix purification", J. Chem. Phys. 128, 176101 (2008).
template <class T>
class Sequence {
 public:
  explicit Sequence(Products<T>& products) : products_(products) {}
  Sequence(const Sequence&) = delete;
  Sequence& operator=(const Sequence&) = delete;

  /// The purification of h, in the layout of the products, instead of the former one. `spectrum` and `frontier_within`
  /// of the problem are found here, the former by `bounds` where it is not known.
  ///
  /// \throws ArgumentError, NoGap, OutOfMemory  as `spectrum_of` and `Purification`, on all ranks
  /// \param early  see `Purification`
  Purification<T>& begin(Matrix<T> h, Problem problem, Bounds bounds = Bounds::lanczos,
                         Products<Single<T>>* early = nullptr);
  /// Frees the purification, if there is one, with its density matrix. What it found is kept.
  void end();

  /// Whether the last purification tells where to look for the states at the gap of the next one.
  [[nodiscard]] bool knows_frontier(Index occupied) const;

  /// \pre  it has begun, and not ended
  [[nodiscard]] Purification<T>& purification() { return *purification_; }
  [[nodiscard]] const Matrix<T>& hamiltonian() const { return *h_; }

 private:
  Products<T>& products_;
  std::optional<Matrix<T>> h_;
  std::optional<Purification<T>> purification_;
  std::optional<State> former_;
  double drift_ = 0;  // of the spectrum since its bounds were found
};

}  // namespace plait::purify
