#include "plait/purify/sequence.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <utility>

#include "plait/purify/elementwise.hpp"

namespace plait::purify {

namespace {

/// What rounding and Lanczos may have moved states at a gap by.
double slack_of(Interval frontier, double width) { return 1e-5 * std::abs(frontier.width()) + 1e-12 * width; }

Interval widened(Interval interval, double by) { return {interval.low - by, interval.high + by}; }

}  // namespace

template <class T>
bool Sequence<T>::knows_frontier(Index occupied) const {
  if (!purification_) return false;
  const State& state = purification_->state();
  return state.end == iterate::End::converged && state.problem.occupied == occupied &&
         std::isfinite(state.frontier.highest_occupied) && std::isfinite(state.frontier.lowest_empty);
}

template <class T>
Purification<T>& Sequence<T>::begin(Matrix<T> h, Problem problem) {
  constexpr double most_drift = 0.01;  // in widths of the spectrum
  mpi::Context& context = products_.context();
  problem.frontier_within.reset();
  bool has_spectrum = false;
  if (purification_) {
    const State former = purification_->state();
    const bool has_frontier = knows_frontier(problem.occupied);
    purification_.reset();
    blend<T>(0, {{1, &h}, {-1, &*h_}}, *h_);
    const RowDiscs discs = gershgorin(context, *h_);
    const double moved =
        std::min(std::sqrt(inner_product(context, *h_, *h_)), std::max(std::abs(discs.low), std::abs(discs.high)));
    const double width = former.problem.spectrum.width();
    drift_ += moved;
    has_spectrum = drift_ <= most_drift * width;
    if (has_spectrum) problem.spectrum = widened(former.problem.spectrum, moved);
    if (has_frontier && std::isfinite(moved)) {
      const Interval found{former.frontier.highest_occupied, former.frontier.lowest_empty};
      problem.frontier_within = widened(found, moved + slack_of(found, width));
    }
  }
  h_.emplace(std::move(h));
  if (!has_spectrum && h_->layout().shape().rows > 0) {
    problem.spectrum = spectrum_of(context, *h_, bounds_);
    drift_ = 0;
  }
  return purification_.emplace(products_, *h_, problem);
}

template class Sequence<double>;
template class Sequence<std::complex<double>>;

}  // namespace plait::purify
