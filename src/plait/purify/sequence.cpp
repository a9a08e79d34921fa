#include "plait/purify/sequence.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <utility>

#include "plait/mpi/agreed.hpp"
#include "plait/purify/elementwise.hpp"

namespace plait::purify {

namespace {

/// What holds the states at the gap: these themselves, as far as they were found, else where they were expected.
Interval frontier_of(const State& state) {
  const Interval expected = state.frontier_within();
  return {std::max(expected.low, state.frontier.highest_occupied),
          std::min(expected.high, state.frontier.lowest_empty)};
}

Interval widened(Interval interval, double by) { return {interval.low - by, interval.high + by}; }

}  // namespace

template <class T>
bool Sequence<T>::knows_frontier(Index occupied) const {
  if (!purification_ && !former_) return false;
  const State& state = purification_ ? purification_->state() : *former_;
  const Interval known = frontier_of(state);
  return state.end == iterate::End::converged && state.problem.occupied == occupied &&
         known.low > state.problem.spectrum.low && known.high < state.problem.spectrum.high;
}

template <class T>
void Sequence<T>::end() {
  if (!purification_) return;
  mpi::agreed(products_.context(), [&] { former_ = purification_->state(); });
  purification_.reset();
}

template <class T>
Purification<T>& Sequence<T>::begin(Matrix<T> h, Problem problem, Bounds bounds, Products<Single<T>>* early) {
  constexpr double most_drift = 0.01;  // in widths of the spectrum
  mpi::Context& context = products_.context();
  end();
  problem.frontier_within.reset();
  bool has_spectrum = false;
  if (former_) {
    blend<T>(0, {{1, &h}, {-1, &*h_}}, *h_);
    const Interval discs = gershgorin(context, *h_);
    const double moved =
        std::min(std::sqrt(inner_product(context, *h_, *h_)), std::max(std::abs(discs.low), std::abs(discs.high)));
    const Interval spectrum = former_->problem.spectrum;
    drift_ += moved;
    has_spectrum = drift_ <= most_drift * spectrum.width();
    if (has_spectrum) problem.spectrum = widened(spectrum, moved);
    if (knows_frontier(problem.occupied) && std::isfinite(moved)) {
      const Interval found = frontier_of(*former_);
      const double slack = 1e-5 * found.width() + 1e-12 * spectrum.width();  // of Lanczos and rounding
      problem.frontier_within = widened(found, moved + slack);
    }
    former_.reset();
  }
  h_.emplace(std::move(h));
  if (!has_spectrum && h_->layout().shape().rows > 0) {
    problem.spectrum = spectrum_of(context, *h_, bounds);
    drift_ = 0;
  }
  return purification_.emplace(products_, *h_, problem, early);
}

template class Sequence<double>;
template class Sequence<std::complex<double>>;

}  // namespace plait::purify
