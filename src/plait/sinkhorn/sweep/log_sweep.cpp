#include "plait/sinkhorn/sweep/log_sweep.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "plait/sinkhorn/sweep/sweep.hpp"

namespace plait::sinkhorn {

namespace {

/// The exponentials of a block are to be in the second-level cache when the columns take them.
Index rows_in_cache(Index columns, Index number_bytes) {
  for (const Index rows : {8, 4, 2}) {
    if (rows * columns * number_bytes <= cache_bytes() / 2) return rows;
  }
  return 1;
}

template <class A>
bool is_sound(A sum) {
  return sum >= lowest_sum<A> && sum <= std::numeric_limits<A>::max();
}

}  // namespace

template <class T, class A>
LogSweep<T, A>::LogSweep(matrix_view<const T> costs, double epsilon, Index together)
    : costs_(costs),
      factor_(static_cast<A>(-1 / epsilon)),
      rows_at_a_time_(rows_in_cache(costs.columns(), together * Index{sizeof(A)})),
      powers_(static_cast<std::size_t>(together * rows_at_a_time_ * costs.columns())) {}

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
bool LogSweep<T, A>::make_sound(const LogVectors<A>& problem, Index i, A& sum, Index into) {
  if (is_sound(sum)) return true;
  A& f = problem.f[static_cast<std::size_t>(i)];
  A maximum{};
  exponential_.row_maxima(costs_of(i, 1), factor_, problem.g.data(), &maximum);
  f = -maximum;
  exponentials(i, 1, &f, problem.g.data(), &sum, into);
  return is_sound(sum);
}

template <class T, class A>
void LogSweep<T, A>::add_rows(Index count, Index from, const SumsOfRows& weights, std::span<A> sums) const {
  const Index columns = costs_.columns();
  scaling_.column_sums({powers_.data() + from * columns, count, columns, std::max(Index{1}, columns)}, weights.data(),
                       sums.data(), {});
}

template <class T, class A>
RowsSwept LogSweep<T, A>::block(const LogVectors<A>& problem, Index first, Index count, const LogUpdate& update) {
  SumsOfRows of_rows{};
  SumsOfRows weights{};
  RowsSwept swept;
  exponentials(first, count, problem.f.data() + first, problem.g.data(), of_rows.data());
  for (Index k = 0; k < count; ++k) {
    const auto i = static_cast<std::size_t>(first + k);
    const double marginal = problem.marginals[i];
    A& f = problem.f[i];
    A& sum = of_rows[static_cast<std::size_t>(k)];
    A& weight = weights[static_cast<std::size_t>(k)];
    if (marginal == 0) {
      f = -std::numeric_limits<A>::infinity();
      exponentials(first + k, 1, &f, problem.g.data(), &sum, k);
      continue;
    }
    if (!make_sound(problem, first + k, sum, k)) {
      ++swept.unreached;
      continue;
    }
    const double ratio = marginal / static_cast<double>(sum);
    const double change = update.change(static_cast<double>(f), std::log(ratio));
    weight = static_cast<A>(update.is_balanced() ? ratio : std::exp(change));
    f = static_cast<A>(static_cast<double>(f) + change);
    swept.wanted += update.wanted(marginal, static_cast<double>(f));
  }
  add_rows(count, 0, weights, problem.sums);
  return swept;
}

template <class T, class A>
void LogSweep<T, A>::rows(std::span<const LogVectors<A>> problems, const LogUpdate& update,
                          std::span<RowsSwept> swept) {
  for (Index first = 0; first < costs_.rows(); first += rows_at_a_time_) {
    const Index count = std::min(rows_at_a_time_, costs_.rows() - first);
    for (std::size_t k = 0; k < problems.size(); ++k) {
      const RowsSwept own = block(problems[k], first, count, update);
      swept[k].unreached += own.unreached;
      swept[k].wanted += own.wanted;
    }
  }
}

template <class T, class A>
void LogSweep<T, A>::rows_in_common(std::span<const LogVectors<A>> problems, std::span<const double> weights,
                                    std::span<double> log_sums) {
  std::vector<SumsOfRows> of_rows(problems.size());  // then what the rows of the buffer are multiplied by
  std::vector<double> logarithms(problems.size());
  for (Index first = 0; first < costs_.rows(); first += rows_at_a_time_) {
    const Index count = std::min(rows_at_a_time_, costs_.rows() - first);
    for (std::size_t k = 0; k < problems.size(); ++k) {
      exponentials(first, count, problems[k].f.data() + first, problems[k].g.data(), of_rows[k].data(),
                   static_cast<Index>(k) * rows_at_a_time_);
    }
    for (Index n = 0; n < count; ++n) {
      const auto in_block = static_cast<std::size_t>(n);
      const auto i = static_cast<std::size_t>(first + n);
      bool is_reached = true;
      double mean = 0;
      for (std::size_t k = 0; k < problems.size() && is_reached; ++k) {
        A& sum = of_rows[k][in_block];
        is_reached = make_sound(problems[k], first + n, sum, static_cast<Index>(k) * rows_at_a_time_ + n);
        logarithms[k] = std::log(static_cast<double>(sum));
        mean += weights[k] * (logarithms[k] - static_cast<double>(problems[k].f[i]));
      }
      log_sums[i] = is_reached ? mean : -std::numeric_limits<double>::infinity();
      for (std::size_t k = 0; k < problems.size(); ++k) {
        A& f = problems[k].f[i];
        if (!is_reached) {
          f = -std::numeric_limits<A>::infinity();
          exponentials(first + n, 1, &f, problems[k].g.data(), &of_rows[k][in_block],
                       static_cast<Index>(k) * rows_at_a_time_ + n);
          of_rows[k][in_block] = 0;
          continue;
        }
        of_rows[k][in_block] = static_cast<A>(std::exp(mean - logarithms[k]));
        f = static_cast<A>(mean + static_cast<double>(f) - logarithms[k]);
      }
    }
    for (std::size_t k = 0; k < problems.size(); ++k) {
      add_rows(count, static_cast<Index>(k) * rows_at_a_time_, of_rows[k], problems[k].sums);
    }
  }
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
