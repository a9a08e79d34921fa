#include "plait/krylov/error_estimate.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::krylov {

template <class T>
ErrorEstimate<T>::ErrorEstimate(mpi::Context& context, std::size_t size)
    : context_(context), before_(mpi::agreed(context, [&] { return std::vector<T>(size); })) {}

// The first look has nothing to compare with, and the second one no window before.
template <class T>
void ErrorEstimate<T>::look(Index step, std::span<const T> x) {
  if (!is_due(step)) return;
  std::array<double, 2> most{};  // of changes, and of x
  for (std::size_t i = 0; i < x.size(); ++i) {
    most[0] = std::max(most[0], std::abs(static_cast<double>(x[i]) - static_cast<double>(before_[i])));
    most[1] = std::max(most[1], std::abs(static_cast<double>(x[i])));
  }
  std::ranges::copy(x, before_.begin());
  mpi::all_reduce(context_.comm(), std::span<double>(most), mpi::Operation::maximum());
  const bool is_first = window_.begin == 0;
  window_.begin = static_cast<double>(step);
  if (is_first) return;
  const auto [change, size] = most;
  constexpr double slow = 0.5, few = 4, epsilon = std::numeric_limits<T>::epsilon();
  window_.is_at_rounding = change <= few * epsilon * size ? 1 : 0;
  const double before = std::exchange(window_.change, change);
  if (change == 0) window_.value = window_.slowest < 1 ? epsilon / (1 - window_.slowest) : INFINITY;
  if (before <= 0 || change == 0) return;
  const double ratio = change / before;
  const double larger = std::max(ratio, std::exchange(window_.ratio, ratio));  // as some methods fall unevenly
  window_.slowest = std::max(window_.slowest, ratio);
  window_.value = larger < 1 ? change * larger / (1 - larger) / size : INFINITY;
  if (ratio <= slow) return;
  window_.length *= 2;
  window_.change += before;  // as if the windows had been as long
  window_.ratio *= ratio;
}

template <class T>
void ErrorEstimate<T>::save(iterate::Checkpoint& checkpoint) const {
  checkpoint.by_rank["x before"].assign(before_.begin(), before_.end());
  const auto numbers = std::bit_cast<std::array<double, sizeof(Window) / sizeof(double)>>(window_);
  checkpoint.shared["window"].assign(numbers.begin(), numbers.end());
}

template <class T>
void ErrorEstimate<T>::resume(const iterate::Checkpoint& checkpoint) {
  const std::vector<double>& before = iterate::vector_of(checkpoint.by_rank, "x before");
  const std::vector<double>& window = iterate::vector_of(checkpoint.shared, "window");
  std::array<double, sizeof(Window) / sizeof(double)> numbers{};
  if (before.size() != before_.size() || window.size() != numbers.size()) {
    throw ArgumentError(
        fmt::format("the state has {} elements of x before, expected {}", before.size(), before_.size()));
  }
  std::ranges::transform(before, before_.begin(), [](double value) { return static_cast<T>(value); });
  std::ranges::copy(window, numbers.begin());
  window_ = std::bit_cast<Window>(numbers);
}

template class ErrorEstimate<float>;
template class ErrorEstimate<double>;

}  // namespace plait::krylov
