#include "plait/krylov/error_estimate.hpp"

#include <algorithm>
#include <array>
#include <limits>

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
  const bool is_first = begin_ == 0;
  begin_ = step;
  if (is_first) return;
  const auto [change, size] = most;
  constexpr double slow = 0.5, few = 4, epsilon = std::numeric_limits<T>::epsilon();
  is_at_rounding_ = change <= few * epsilon * size;
  const double before = change_;
  change_ = change;
  if (change == 0) value_ = slowest_ < 1 ? epsilon / (1 - slowest_) : INFINITY;
  if (before <= 0 || change == 0) return;
  const double ratio = change / before, larger = std::max(ratio, ratio_);  // as some methods fall unevenly
  slowest_ = std::max(slowest_, ratio);
  value_ = larger < 1 ? change * larger / (1 - larger) / size : INFINITY;
  ratio_ = ratio;
  if (ratio <= slow) return;
  length_ *= 2;
  change_ += before;  // as if the windows had been as long
  ratio_ *= ratio;
}

template <class T>
void ErrorEstimate<T>::save(iterate::Checkpoint& checkpoint) const {
  checkpoint.by_rank["x before"].assign(before_.begin(), before_.end());
  checkpoint.shared["window"] = {static_cast<double>(begin_),
                                 static_cast<double>(length_),
                                 change_,
                                 ratio_,
                                 value_,
                                 is_at_rounding_ ? 1. : 0.,
                                 slowest_,
                                 least_,
                                 static_cast<double>(check_)};
}

template <class T>
void ErrorEstimate<T>::resume(const iterate::Checkpoint& checkpoint) {
  const std::vector<double>& before = iterate::vector_of(checkpoint.by_rank, "x before");
  const std::vector<double>& window = iterate::vector_of(checkpoint.shared, "window");
  if (before.size() != before_.size() || window.size() != 9) {
    throw ArgumentError(
        fmt::format("the state has {} elements of x before, expected {}", before.size(), before_.size()));
  }
  std::ranges::transform(before, before_.begin(), [](double value) { return static_cast<T>(value); });
  begin_ = static_cast<Index>(window[0]);
  length_ = static_cast<Index>(window[1]);
  change_ = window[2];
  ratio_ = window[3];
  value_ = window[4];
  is_at_rounding_ = window[5] != 0;
  slowest_ = window[6];
  least_ = window[7];
  check_ = static_cast<Index>(window[8]);
}

template class ErrorEstimate<float>;
template class ErrorEstimate<double>;

}  // namespace plait::krylov
