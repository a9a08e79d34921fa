#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/mpi/context.hpp"
#include "plait/purify/eigenstates.hpp"
#include "plait/purify/filling.hpp"

/// Several Hamiltonians that share their electrons, such as those of k-points and of both spins: "points".
///
///     PointStates<T> points(context, sizes);
///     for (Index k = 0; k < points.count(); ++k) points.set(k, h[k]);
///     points.solve();
///     PointsFilling filling = fill_points(points.values(), weights, electrons, Smearing::fermi_dirac, width);
///     points.weigh(filling);
///     for (Index k = 0; k < points.count(); ++k) points.take(k, d[k]);
namespace plait::purify {

/// The ranks that work at each point, ascending. Where there are as many ranks as points, each has ranks of its own,
/// side by side, about as many as its share of all costs; else each has one, of which the busiest has as little to do
/// as dealing the dearest points first makes it.
///
/// \pre  ranks >= 1, costs >= 0
[[nodiscard]] std::vector<std::vector<int>> ranks_of_points(std::span<const double> costs, int ranks);

/// What a state of each point counts, so that those of one spin are 1 together. With two spins the first half of the
/// points is of one of them, the other half of the other one.
///
/// \param given  of the points of one spin, in any unit; none: all alike
/// \throws ArgumentError  an odd number of points of two spins; more or fewer weights than points of one spin, or one
///                        that is not positive
[[nodiscard]] std::vector<double> weights_of_points(std::span<const double> given, Index points, int spins);

/// States of several points, filled up to one chemical potential.
struct PointsFilling {
  std::vector<Filling> of_points;  ///< entropies and energies without weights
  double energy = 0;               ///< Σ weight × that of the point, likewise:
  double entropy = 0;
  Interval chemical_potentials;  ///< any in there is right for all points
  Frontier frontier;             ///< the highest occupied and the lowest empty state of all, where there is a gap
  std::array<Index, 2> frontier_points{};  ///< at which they are
  double direct_gap = 0;  ///< the least between two states of one point; infinite where none has both kinds
};

/// Fills the states of all points, of which those of point k count weights[k] each, with `filled` states' worth of
/// electrons: without smearing the lowest of all, with it as `occupy` does.
///
/// \pre  weights > 0, as many as points; 0 <= filled <= Σ weights × states
/// \throws NoGap          without smearing: the states cannot be filled one by one, or two at the cut have one energy
/// \throws ArgumentError  see `occupy`
[[nodiscard]] PointsFilling fill_points(std::span<const std::vector<double>> energies, std::span<const double> weights,
                                        double filled, Smearing smearing, double width);

/// The eigenstates of all points, each found by the ranks that `ranks_of_points` gives it, at the same time as those of
/// others. Everything is collective over the context, which outlives this. T is double or std::complex<double>.
template <class T>
class PointStates {
 public:
  /// \param states  how many each point has; it costs their cube
  /// \throws ArgumentError, Error, OutOfMemory  on all ranks: as `Eigenstates`
  PointStates(mpi::Context& context, std::vector<Index> states);

  [[nodiscard]] Index count() const noexcept { return static_cast<Index>(states_.size()); }
  [[nodiscard]] const std::vector<int>& ranks_of(Index point) const { return ranks_[static_cast<std::size_t>(point)]; }
  /// What this rank takes at once, in bytes, with overlaps or without.
  [[nodiscard]] Index bytes(bool has_overlap) const;

  /// The Hamiltonian of a point, and its overlap, if it has one; both in any layouts.
  void set(Index point, const Matrix<T>& h, const Matrix<T>* s = nullptr);
  /// Finds all eigenstates.
  void solve();
  /// Those of all points, on every rank.
  [[nodiscard]] const std::vector<std::vector<double>>& values() const noexcept { return values_; }

  /// Makes the density matrices of all points, for `take`, and returns the largest of each of their errors.
  /// \throws Error  on all ranks: one of them is no density matrix
  [[nodiscard]] DensityErrors weigh(const PointsFilling& filling);
  /// Σ f e c cᴴ of all points instead of Σ f c cᴴ.
  void weigh_energies(const PointsFilling& filling);
  /// d ← what `weigh` made of a point, in any layout.
  void take(Index point, Matrix<T>& d);

 private:
  /// What a rank has of a point at which it works, in the layout of the group of ranks that do.
  struct Point {
    Index number;
    Matrix<T> h;
    std::optional<Matrix<T>> s;
    Matrix<T> d;
    std::optional<Eigenstates<T>> states;
  };
  [[nodiscard]] layout::Layout layout_in_group(Index point) const;
  [[nodiscard]] layout::Layout layout_of(Index point) const;
  [[nodiscard]] Point* own(Index point);
  /// Does f(point) for all points at which this rank works; all ranks agree on the outcome.
  template <class F>
  void at_own_points(F&& f);

  mpi::Context& context_;
  std::vector<Index> states_;
  std::vector<std::vector<int>> ranks_;
  std::unique_ptr<mpi::Context> group_;  // of the ranks that work at the same points as this one; none: it sleeps
  std::vector<Point> own_;
  std::vector<std::vector<double>> values_;
  int cores_ = 1;  // of this rank, whatever the others do
};

}  // namespace plait::purify
