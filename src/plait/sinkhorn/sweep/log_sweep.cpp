#include "plait/sinkhorn/sweep/log_sweep.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "plait/base/caches.hpp"

namespace plait::sinkhorn {

namespace {

/// The exponentials of a block are to be in the second-level cache when the columns take them.
Index rows_in_cache(Index columns, Index number_bytes) {
  constexpr Index usual_cache_bytes = Index{512} << 10;
  const Index cache = second_level_cache_bytes() > 0 ? second_level_cache_bytes() : usual_cache_bytes;
  for (const Index rows : {8, 4, 2}) {
    if (rows * columns * number_bytes <= cache / 2) return rows;
  }
  return 1;
}

/// Sums between these lost nothing to underflow or overflow that could be seen in a plan.
template <class A>
bool is_sound(A sum) {
  constexpr A lowest = std::numeric_limits<A>::min() / std::numeric_limits<A>::epsilon();
  return sum >= lowest && sum <= std::numeric_limits<A>::max();
}

}  // namespace

template <class T, class A>
LogSweep<T, A>::LogSweep(matrix_view<const T> costs, double epsilon)
    : costs_(costs),
      factor_(static_cast<A>(-1 / epsilon)),
      rows_at_a_time_(rows_in_cache(costs.columns(), Index{sizeof(A)})),
      powers_(static_cast<std::size_t>(rows_at_a_time_ * costs.columns())) {}

template <class T, class A>
simd::RowBlock<const T> LogSweep<T, A>::costs_of(Index first, Index count) const {
  return {costs_.data() + first * costs_.leading_dimension(), count, costs_.columns(), costs_.leading_dimension()};
}

template <class T, class A>
void LogSweep<T, A>::exponentials(Index first, Index count, const A* f, const A* g, A* sums, Index into) {
  const Index columns = costs_.columns();
  const simd::RowBlock<A> powers{powers_.data() + into * columns, count, columns, std::max(Index{1}, columns)};
  exponential_.exponential_sums(costs_of(first, count), factor_, f, g, powers, sums);
}

template <class T, class A>
RowsSwept LogSweep<T, A>::rows(std::span<const double> marginals, std::span<A> f, std::span<const A> g,
                               std::span<A> sums, const LogUpdate& update) {
  std::array<A, simd::most_rows_at_a_time> of_rows{};
  std::array<A, simd::most_rows_at_a_time> weights{};
  RowsSwept swept;
  for (Index first = 0; first < costs_.rows(); first += rows_at_a_time_) {
    const Index count = std::min(rows_at_a_time_, costs_.rows() - first);
    exponentials(first, count, f.data() + first, g.data(), of_rows.data());
    for (Index k = 0; k < count; ++k) {
      const auto i = static_cast<std::size_t>(first + k);
      A& sum = of_rows[static_cast<std::size_t>(k)];
      A& weight = weights[static_cast<std::size_t>(k)];
      weight = 0;
      if (marginals[i] == 0) {
        f[i] = -std::numeric_limits<A>::infinity();
        exponentials(first + k, 1, &f[i], g.data(), &sum, k);
        continue;
      }
      if (!is_sound(sum)) {
        A maximum{};
        exponential_.row_maxima(costs_of(first + k, 1), factor_, g.data(), &maximum);
        f[i] = -maximum;
        exponentials(first + k, 1, &f[i], g.data(), &sum, k);
      }
      if (!is_sound(sum)) {
        ++swept.unreached;
        continue;
      }
      const double ratio = marginals[i] / static_cast<double>(sum);
      const double change = update.change(static_cast<double>(f[i]), std::log(ratio));
      weight = static_cast<A>(update.is_plain() ? ratio : std::exp(change));
      f[i] = static_cast<A>(static_cast<double>(f[i]) + change);
      if (update.is_plain()) continue;
      swept.distance += std::abs(static_cast<double>(weight) * static_cast<double>(sum) -
                                 update.wanted(marginals[i], static_cast<double>(f[i])));
    }
    scaling_.column_sums({powers_.data(), count, costs_.columns(), std::max(Index{1}, costs_.columns())},
                         weights.data(), sums.data(), {});
  }
  return swept;
}

template <class T, class A>
double LogSweep<T, A>::exponent(Index i, std::size_t j) const {
  return static_cast<double>(factor_) *
         static_cast<double>(costs_.data()[i * costs_.leading_dimension() + static_cast<Index>(j)]);
}

template <class T, class A>
void LogSweep<T, A>::column_maxima(std::span<const std::size_t> columns, std::span<const A> f,
                                   std::span<double> maxima) const {
  for (Index i = 0; i < costs_.rows(); ++i) {
    const auto of_row = static_cast<double>(f[static_cast<std::size_t>(i)]);
    for (std::size_t k = 0; k < columns.size(); ++k) {
      maxima[k] = std::max(maxima[k], of_row + exponent(i, columns[k]));
    }
  }
}

template <class T, class A>
void LogSweep<T, A>::column_sums(std::span<const std::size_t> columns, std::span<const A> f,
                                 std::span<const double> maxima, std::span<double> sums) const {
  for (Index i = 0; i < costs_.rows(); ++i) {
    const auto of_row = static_cast<double>(f[static_cast<std::size_t>(i)]);
    for (std::size_t k = 0; k < columns.size(); ++k) {
      sums[k] += std::exp(of_row + exponent(i, columns[k]) - maxima[k]);
    }
  }
}

template class LogSweep<double, double>;
template class LogSweep<float, float>;
template class LogSweep<float, double>;

}  // namespace plait::sinkhorn
