#include "plait/sinkhorn/costs/grid_costs.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace plait::sinkhorn {

namespace {

template <class A>
constexpr A unreached = -std::numeric_limits<A>::infinity();

// Lines that are read together, as their elements lie side by side in memory.
constexpr Index lines_at_a_time = 8;

}  // namespace

template <class A>
GridCosts<A>::GridCosts(const PointClouds<A>& clouds, int threads)
    : CostOperand<A>(clouds.x.rows(), clouds.grid->nodes(), threads), grid_(*clouds.grid), power_(clouds.norm().power) {
  if (this->rows() == 0) return;
  const Index plane = grid_.plane();
  planes_.first = clouds.first_node / plane;
  planes_.count = (clouds.first_node + this->rows() + plane - 1) / plane - planes_.first;
  before_ = clouds.first_node - planes_.first * plane;
}

template <class A>
double GridCosts<A>::cost_on_axis(int axis, Index i, Index j) const {
  const auto a = static_cast<std::size_t>(axis);
  return Norm{power_, power_}.cost(1, [&](Index) { return grid_.spacing[a] * static_cast<double>(i - j); });
}

template <class A>
template <class Weight>
typename GridCosts<A>::Table GridCosts<A>::table(int axis, const Weight& weight) const {
  // A sum has a term that is a power itself: so none that counts is lost.
  constexpr double most = std::is_same_v<A, double> ? 600 : 60;
  const Index n = grid_.extents[static_cast<std::size_t>(axis)];
  Table made;
  made.exponents.reserve(static_cast<std::size_t>(n * n));
  double largest = 0;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      const double exponent = cost_on_axis(axis, i, j) / epsilon_ - std::log(weight(i, j));
      if (std::isfinite(exponent)) largest = std::max(largest, std::abs(exponent));
      made.exponents.push_back(static_cast<A>(exponent));
    }
  }
  if (largest > most) return made;
  made.powers.reserve(made.exponents.size());
  for (const A exponent : made.exponents) made.powers.push_back(std::exp(-exponent));
  return made;
}

template <class A>
void GridCosts<A>::set_epsilon(double epsilon, std::size_t /*problems*/, std::size_t /*in_common*/) {
  this->set_factor(epsilon);
  epsilon_ = epsilon;
  for (int axis = 0; axis < 3; ++axis) tables_[static_cast<std::size_t>(axis)] = table(axis);
  one_.resize(static_cast<std::size_t>(planes_.count * grid_.plane()));
  other_.resize(one_.size());
  all_.resize(static_cast<std::size_t>(this->columns()));
  const Index longest = std::ranges::max(grid_.extents);
  lines_.resize(static_cast<std::size_t>(this->threads() * 2 * lines_at_a_time * longest));
}

template <class A>
void GridCosts<A>::sum_along(const Table& table, Index extent, Index outer, Index inner, Range targets, Range sources,
                             const A* from, A* to) {
  const Index groups = (inner + lines_at_a_time - 1) / lines_at_a_time;
  const auto of_thread = lines_.size() / static_cast<std::size_t>(this->threads());
#pragma omp parallel num_threads(this->threads()) if (this->threads() > 1)
  {
    A* const line = lines_.data() + static_cast<std::size_t>(omp_get_thread_num()) * of_thread;
    A* const scratch = line + of_thread / 2;
#pragma omp for schedule(static)
    for (Index group = 0; group < outer * groups; ++group) {
      const Index first = group % groups * lines_at_a_time;
      const Index count = std::min(lines_at_a_time, inner - first);
      const A* const source = from + group / groups * sources.count * inner + first;
      A* const target = to + group / groups * targets.count * inner + first;
      std::array<A, lines_at_a_time> highest;
      highest.fill(unreached<A>);
      for (Index s = 0; s < sources.count; ++s) {
        for (Index k = 0; k < count; ++k) {
          const A value = source[s * inner + k];
          line[k * sources.count + s] = value;
          highest[static_cast<std::size_t>(k)] = std::max(highest[static_cast<std::size_t>(k)], value);
        }
      }
      if (!table.powers.empty()) {
        for (Index k = 0; k < count; ++k) {
          const A most = highest[static_cast<std::size_t>(k)];
          for (Index s = k * sources.count; s < (k + 1) * sources.count; ++s) {
            line[s] = most == unreached<A> ? A{0} : std::exp(line[s] - most);
          }
        }
      }
      for (Index t = 0; t < targets.count; t += simd::most_rows_at_a_time) {
        const Index rows = std::min(Index{simd::most_rows_at_a_time}, targets.count - t);
        const Index begin = (targets.first + t) * extent + sources.first;
        std::array<A, simd::most_rows_at_a_time> sums{};
        std::array<A, simd::most_rows_at_a_time> shifts{};
        for (Index k = 0; k < count; ++k) {
          const A* const own = line + k * sources.count;
          if (!table.powers.empty()) {
            scaling_.row_sums({table.powers.data() + begin, rows, sources.count, extent}, own, sums.data(), {});
            shifts.fill(highest[static_cast<std::size_t>(k)]);
          } else {
            const simd::RowBlock<const A> costs{table.exponents.data() + begin, rows, sources.count, extent};
            exponential_.row_maxima(costs, A{-1}, own, shifts.data());
            std::array<A, simd::most_rows_at_a_time> f{};
            for (std::size_t r = 0; r < f.size(); ++r) f[r] = shifts[r] == unreached<A> ? A{0} : -shifts[r];
            exponential_.exponential_sums(costs, A{-1}, f.data(), own, {scratch, rows, sources.count, sources.count},
                                          sums.data());
          }
          for (Index r = 0; r < rows; ++r) {
            const auto at = static_cast<std::size_t>(r);
            target[(t + r) * inner + k] = shifts[at] == unreached<A> ? unreached<A> : shifts[at] + std::log(sums[at]);
          }
        }
      }
    }
  }
}

template <class A>
std::span<const A> GridCosts<A>::log_sums_of_rows(std::span<const A> g, const Axes& axes) {
  const auto& [n0, n1, n2] = grid_.extents;
  if (one_.empty()) return {};
  sum_along(*axes[0], n0, 1, n1 * n2, planes_, {0, n0}, g.data(), one_.data());
  sum_along(*axes[1], n1, planes_.count, n2, {0, n1}, {0, n1}, one_.data(), other_.data());
  sum_along(*axes[2], n2, planes_.count * n1, 1, {0, n2}, {0, n2}, other_.data(), one_.data());
  return std::span(one_).subspan(static_cast<std::size_t>(before_), static_cast<std::size_t>(this->rows()));
}

template <class A>
template <class Sum>
void GridCosts<A>::add_columns(std::span<const A> f, std::span<const A> g, std::span<Sum> sums) {
  const auto& [n0, n1, n2] = grid_.extents;
  if (one_.empty()) return;
  std::ranges::fill(one_, unreached<A>);
  std::ranges::copy(f, one_.begin() + static_cast<std::ptrdiff_t>(before_));
  sum_along(tables_[2], n2, planes_.count * n1, 1, {0, n2}, {0, n2}, one_.data(), other_.data());
  sum_along(tables_[1], n1, planes_.count, n2, {0, n1}, {0, n1}, other_.data(), one_.data());
  sum_along(tables_[0], n0, 1, n1 * n2, {0, n0}, planes_, one_.data(), all_.data());
  for (std::size_t j = 0; j < sums.size(); ++j) sums[j] += static_cast<Sum>(std::exp(all_[j] + g[j]));
}

template <class A>
void GridCosts<A>::sweep(std::span<const LogVectors<A>> problems, const LogUpdate& update, std::span<RowsSwept> swept) {
  for (std::size_t k = 0; k < problems.size(); ++k) {
    const auto& [marginals, f, g, sums] = problems[k];
    const auto found = log_sums_of_rows(g, axes());
    for (std::size_t i = 0; i < f.size(); ++i) {
      const auto logarithm = static_cast<double>(found[i]);
      const bool has_sum = marginals[i] > 0 && std::isfinite(logarithm);
      if (marginals[i] > 0 && !has_sum) ++swept[k].unreached;
      f[i] = has_sum ? static_cast<A>(update.exponent() * (std::log(marginals[i]) - logarithm)) : unreached<A>;
      if (has_sum) swept[k].wanted += update.wanted(marginals[i], static_cast<double>(f[i]));
    }
    add_columns<A>(f, g, sums);
  }
}

template <class A>
void GridCosts<A>::sweep_in_common(std::span<const LogVectors<A>> problems, std::span<const double> weights,
                                   std::span<double> log_sums) {
  for (const LogVectors<A>& problem : problems) {
    std::ranges::copy(log_sums_of_rows(problem.g, axes()), problem.f.begin());
  }
  for (std::size_t i = 0; i < log_sums.size(); ++i) {
    double mean = 0;
    for (std::size_t k = 0; k < problems.size(); ++k) mean += weights[k] * static_cast<double>(problems[k].f[i]);
    log_sums[i] = std::isfinite(mean) ? mean : unreached<double>;
    for (const LogVectors<A>& problem : problems) {
      problem.f[i] = std::isfinite(mean) ? static_cast<A>(mean - static_cast<double>(problem.f[i])) : unreached<A>;
    }
  }
  for (const LogVectors<A>& problem : problems) add_columns<A>(problem.f, problem.g, problem.sums);
}

template <class A>
PlanTotals GridCosts<A>::sum_up(std::span<const A> f, std::span<const A> g, std::span<double> rows,
                                std::span<double> columns) {
  PlanTotals totals;
  const auto found = log_sums_of_rows(g, axes());
  for (std::size_t i = 0; i < found.size(); ++i) {
    rows[i] = static_cast<double>(std::exp(f[i] + found[i]));
    totals.mass += rows[i];
    if (rows[i] > 0) totals.potentials += static_cast<double>(f[i]) * rows[i];
  }
  for (int axis = 0; axis < grid_.dimensions; ++axis) {
    const Table weighted = table(axis, [&](Index i, Index j) { return cost_on_axis(axis, i, j); });
    Axes with = axes();
    with[static_cast<std::size_t>(axis)] = &weighted;
    const auto costs = log_sums_of_rows(g, with);
    for (std::size_t i = 0; i < costs.size(); ++i) totals.cost += static_cast<double>(std::exp(f[i] + costs[i]));
  }
  std::vector<double> of_columns(g.size());
  add_columns<double>(f, g, of_columns);
  for (std::size_t j = 0; j < g.size(); ++j) {
    if (of_columns[j] > 0) totals.potentials += static_cast<double>(g[j]) * of_columns[j];
    if (!columns.empty()) columns[j] += of_columns[j];
  }
  return totals;
}

template <class A>
std::vector<A> GridCosts<A>::mean_places(std::span<const A> g) {
  const auto found = log_sums_of_rows(g, axes());
  const std::vector<A> whole(found.begin(), found.end());
  const auto dimensions = static_cast<std::size_t>(grid_.dimensions);
  std::vector<A> places(whole.size() * dimensions);
  for (std::size_t a = 0; a < dimensions; ++a) {
    const Table weighted = table(static_cast<int>(a), [&](Index, Index j) { return static_cast<double>(j); });
    Axes with = axes();
    with[a] = &weighted;
    const auto sums = log_sums_of_rows(g, with);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      places[i * dimensions + a] = static_cast<A>(grid_.spacing[a] * static_cast<double>(std::exp(sums[i] - whole[i])));
    }
  }
  return places;
}

template <class A>
double GridCosts<A>::cost(Index i, std::size_t j) const {
  Index from = planes_.first * grid_.plane() + before_ + i;
  auto to = static_cast<Index>(j);
  double sum = 0;
  for (int axis = 2; axis >= 0; --axis) {
    const Index n = grid_.extents[static_cast<std::size_t>(axis)];
    sum += cost_on_axis(axis, from % n, to % n);
    from /= n;
    to /= n;
  }
  return sum;
}

template <class A>
double GridCosts<A>::cost_of(Index i, std::span<const A> plan) const {
  double sum = 0;
  for (std::size_t j = 0; j < plan.size(); ++j) sum += cost(i, j) * static_cast<double>(plan[j]);
  return sum;
}

// Single rows are needed where a plan is written, and to repeat sums that were lost: they are not worth a kernel.
template <class A>
void GridCosts<A>::exponentials(Index first, A factor, const A* f, const A* g, simd::RowBlock<A> e, A* sums) const {
  for (Index i = 0; i < e.rows; ++i) {
    A* const row = e.data + i * e.leading_dimension;
    sums[i] = 0;
    for (Index j = 0; j < e.columns; ++j) {
      const auto exponent = static_cast<double>(f[i]) + static_cast<double>(g[j]) +
                            static_cast<double>(factor) * cost(first + i, static_cast<std::size_t>(j));
      row[j] = static_cast<A>(std::exp(exponent));
      sums[i] += row[j];
    }
  }
}

template <class A>
A GridCosts<A>::maximum(Index i, A factor, const A* g) const {
  double maximum = unreached<double>;
  for (Index j = 0; j < this->columns(); ++j) {
    maximum = std::max(maximum,
                       static_cast<double>(g[j]) + static_cast<double>(factor) * cost(i, static_cast<std::size_t>(j)));
  }
  return static_cast<A>(maximum);
}

template class GridCosts<double>;
template class GridCosts<float>;

}  // namespace plait::sinkhorn
