#include <omp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

#include "plait/simd/sweep/distance_kernels.hpp"
#include "plait/simd/sweep/exponential_kernels.hpp"
#include "plait/sinkhorn/costs/point_costs.hpp"

namespace plait::sinkhorn {

namespace {

template <class A>
constexpr A unreached = -std::numeric_limits<A>::infinity();

// Lines that are summed up together.
constexpr Index lines_at_a_time = simd::panel_points;

/// Costs between the nodes of a regular grid that are sums over its axes, such as squared distances,
///
///     exp(-C(i, j) / epsilon) = Π_a exp(-c_a(i_a, j_a) / epsilon)
///
/// so that sums over all nodes are taken along one axis after the other: n1 n2 (n1 + n2) terms instead of (n1 n2)². A
/// term is a product with what is stored of the axis where no cost of it is so many epsilons that products could be
/// lost, and an exponential below that, relative to the largest term of each sum: no epsilon is too small.
///
/// A rank takes the planes of the first axis in which its nodes are; sums of columns are those of its nodes, as of all
/// costs. Lines are summed up by one thread each: the same bits for any number of threads.
///
/// Source: Solomon et al., "Convolutional Wasserstein distances", 2015.
template <class A>
class GridCosts final : public CostOperand<A> {
 public:
  /// \pre  clouds.grid; clouds.norm().is_sum(its dimensions)
  GridCosts(const PointClouds<A>& clouds, int threads)
      : CostOperand<A>(clouds.x.rows(), clouds.grid->nodes(), threads),
        grid_(*clouds.grid),
        power_(clouds.norm().power) {
    if (this->rows() == 0) return;
    const Index plane = grid_.plane();
    planes_.first = clouds.first_node / plane;
    planes_.count = (clouds.first_node + this->rows() + plane - 1) / plane - planes_.first;
    before_ = clouds.first_node - planes_.first * plane;
  }

  void set_epsilon(double epsilon, std::size_t /*problems*/, std::size_t /*in_common*/) override {
    this->set_factor(epsilon);
    epsilon_ = epsilon;
    for (int axis = 0; axis < 3; ++axis) tables_[static_cast<std::size_t>(axis)] = table(axis);
    one_.resize(static_cast<std::size_t>(planes_.count * grid_.plane()));
    other_.resize(one_.size());
    all_.resize(static_cast<std::size_t>(this->columns()));
    const Index longest = std::ranges::max(grid_.extents);
    lines_.resize(static_cast<std::size_t>(this->threads() * Lines::of_extent(longest)));
  }

  void sweep(std::span<const LogVectors<A>> problems, const LogUpdate& update, std::span<RowsSwept> swept) override {
    for (std::size_t k = 0; k < problems.size(); ++k) {
      const auto& [marginals, f, g, sums, columns] = problems[k];
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

  void sweep_in_common(std::span<const LogVectors<A>> problems, std::span<const double> weights,
                       std::span<double> log_sums) override {
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

  [[nodiscard]] PlanTotals sum_up(std::span<const A> f, std::span<const A> g, std::span<double> rows,
                                  std::span<double> columns) override {
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

  [[nodiscard]] double cost_of(Index i, std::span<const A> plan) const override {
    double sum = 0;
    for (std::size_t j = 0; j < plan.size(); ++j) sum += cost(i, j) * static_cast<double>(plan[j]);
    return sum;
  }

  /// Where each of this rank's nodes goes on the average, as rows × dimensions: see `barycentric_projection`.
  [[nodiscard]] std::vector<A> mean_places(std::span<const A> g) {
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
        places[i * dimensions + a] =
            static_cast<A>(grid_.spacing[a] * static_cast<double>(std::exp(sums[i] - whole[i])));
      }
    }
    return places;
  }

 private:
  /// What terms along an axis are multiplied by: exp(-exponents), with rows for targets.
  struct Table {
    std::vector<A> exponents;
    std::vector<A> powers;  // empty: they leave the range of numbers
  };
  using Axes = std::array<const Table*, 3>;
  struct Range {
    Index first = 0;
    Index count = 0;
  };

  // Single rows are needed where a plan is written, and to repeat sums that were lost: they are not worth a kernel.
  void exponentials(Index first, A factor, const A* f, const A* g, simd::RowBlock<A> e, A* sums) const override {
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

  [[nodiscard]] A maximum(Index i, A factor, const A* g) const override {
    double maximum = unreached<double>;
    for (Index j = 0; j < this->columns(); ++j) {
      maximum = std::max(
          maximum, static_cast<double>(g[j]) + static_cast<double>(factor) * cost(i, static_cast<std::size_t>(j)));
    }
    return static_cast<A>(maximum);
  }

  [[nodiscard]] double cost(Index i, std::size_t j) const override {
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

  [[nodiscard]] double cost_on_axis(int axis, Index i, Index j) const {
    const auto a = static_cast<std::size_t>(axis);
    return Norm{power_, power_}.cost(1, [&](Index) { return grid_.spacing[a] * static_cast<double>(i - j); });
  }

  /// Of an axis, with another factor of each term, which may be 0.
  template <class Weight>
  [[nodiscard]] Table table(int axis, const Weight& weight) const {
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

  [[nodiscard]] Table table(int axis) const {
    return table(axis, [](Index, Index) { return 1.0; });
  }

  [[nodiscard]] Axes axes() const { return {&tables_[0], &tables_[1], &tables_[2]}; }

  /// What a thread sums lines up in.
  struct Lines {
    Index extent;  // of the axis
    A* memory;

    [[nodiscard]] static Index of_extent(Index longest) { return (2 * simd::panel_points + 1) * longest; }
    [[nodiscard]] A* first() const { return memory; }
    [[nodiscard]] A* second() const { return memory + simd::panel_points * extent; }
    [[nodiscard]] A* third() const { return memory + 2 * simd::panel_points * extent; }
  };
  /// Lines along an axis, whose elements are `inner` apart.
  struct LinesOfAxis {
    Index inner;
    std::span<const A* const> source;
    std::span<A* const> target;
  };
  // As products of what stands side by side for each source, relative to the largest of each line.
  void sum_products(const Table& table, const LinesOfAxis& lines, Range targets, Range sources,
                    const Lines& memory) const {
    A* const panel = memory.first();
    A* const sums = memory.second();
    A* const zeros = memory.third();
    const std::size_t count = lines.source.size();
    std::array<A, lines_at_a_time> highest;
    highest.fill(unreached<A>);
    for (Index s = 0; s < sources.count; ++s) {
      A* const side_by_side = panel + s * lines_at_a_time;
      for (std::size_t k = 0; k < count; ++k) {
        side_by_side[k] = lines.source[k][s * lines.inner];
        highest[k] = std::max(highest[k], side_by_side[k]);
      }
      std::fill(side_by_side + count, side_by_side + lines_at_a_time, unreached<A>);
    }
    std::array<A, lines_at_a_time> shifts;
    for (std::size_t k = 0; k < shifts.size(); ++k) shifts[k] = highest[k] == unreached<A> ? A{0} : -highest[k];
    std::fill_n(zeros, sources.count, A{0});
    exponential_.exponential_sums({panel, sources.count, lines_at_a_time, lines_at_a_time}, A{1}, zeros, shifts.data(),
                                  {panel, sources.count, lines_at_a_time, lines_at_a_time}, sums);
    distances_.inner({table.powers.data() + targets.first * memory.extent + sources.first, targets.count, sources.count,
                      memory.extent},
                     panel, 1, {sums, targets.count, lines_at_a_time, lines_at_a_time});
    for (Index t = 0; t < targets.count; ++t) {
      for (std::size_t k = 0; k < count; ++k) {
        const A sum = sums[t * lines_at_a_time + static_cast<Index>(k)];
        lines.target[k][t * lines.inner] = highest[k] == unreached<A> ? unreached<A> : highest[k] + std::log(sum);
      }
    }
  }

  // Relative to the largest term of each sum.
  void sum_exponentials(const Table& table, const LinesOfAxis& lines, Range targets, Range sources,
                        const Lines& memory) const {
    A* const own = memory.first();
    for (std::size_t k = 0; k < lines.source.size(); ++k) {
      for (Index s = 0; s < sources.count; ++s) own[s] = lines.source[k][s * lines.inner];
      for (Index t = 0; t < targets.count; t += simd::most_rows_at_a_time) {
        const Index rows = std::min(Index{simd::most_rows_at_a_time}, targets.count - t);
        const simd::RowBlock<const A> costs{
            table.exponents.data() + (targets.first + t) * memory.extent + sources.first, rows, sources.count,
            memory.extent};
        std::array<A, simd::most_rows_at_a_time> sums{};
        std::array<A, simd::most_rows_at_a_time> highest{};
        std::array<A, simd::most_rows_at_a_time> f{};
        exponential_.row_maxima(costs, A{-1}, own, highest.data());
        for (std::size_t r = 0; r < f.size(); ++r) f[r] = highest[r] == unreached<A> ? A{0} : -highest[r];
        exponential_.exponential_sums(costs, A{-1}, f.data(), own,
                                      {memory.second(), rows, sources.count, sources.count}, sums.data());
        for (Index r = 0; r < rows; ++r) {
          const auto at = static_cast<std::size_t>(r);
          lines.target[k][(t + r) * lines.inner] =
              highest[at] == unreached<A> ? unreached<A> : highest[at] + std::log(sums[at]);
        }
      }
    }
  }

  /// to ← logarithms of sums along an axis of what are logarithms; `outer` and `inner` count nodes of axes before and
  /// behind it.
  void sum_along(const Table& table, Index extent, Index outer, Index inner, Range targets, Range sources,
                 const A* from, A* to) {
    const Index lines = outer * inner;
    if (extent == 1 && table.exponents[0] == 0) return static_cast<void>(std::copy_n(from, lines, to));
    const Index groups = (lines + lines_at_a_time - 1) / lines_at_a_time;
    const auto of_thread = lines_.size() / static_cast<std::size_t>(this->threads());
#pragma omp parallel num_threads(this->threads()) if (this->threads() > 1)
    {
      const Lines memory{extent, lines_.data() + static_cast<std::size_t>(omp_get_thread_num()) * of_thread};
#pragma omp for schedule(static)
      for (Index group = 0; group < groups; ++group) {
        std::array<const A*, lines_at_a_time> source{};
        std::array<A*, lines_at_a_time> target{};
        const Index count = std::min(lines_at_a_time, lines - group * lines_at_a_time);
        for (Index k = 0; k < count; ++k) {
          const Index line = group * lines_at_a_time + k;
          source[static_cast<std::size_t>(k)] = from + line / inner * sources.count * inner + line % inner;
          target[static_cast<std::size_t>(k)] = to + line / inner * targets.count * inner + line % inner;
        }
        const LinesOfAxis axis{inner, std::span(source).first(static_cast<std::size_t>(count)), target};
        table.powers.empty() ? sum_exponentials(table, axis, targets, sources, memory)
                             : sum_products(table, axis, targets, sources, memory);
      }
    }
  }

  /// log Σ_j exp(g[j] - C(i, j) / epsilon) of this rank's nodes.
  [[nodiscard]] std::span<const A> log_sums_of_rows(std::span<const A> g, const Axes& axes) {
    const auto& [n0, n1, n2] = grid_.extents;
    if (one_.empty()) return {};
    sum_along(*axes[0], n0, 1, n1 * n2, planes_, {0, n0}, g.data(), one_.data());
    sum_along(*axes[1], n1, planes_.count, n2, {0, n1}, {0, n1}, one_.data(), other_.data());
    sum_along(*axes[2], n2, planes_.count * n1, 1, {0, n2}, {0, n2}, other_.data(), one_.data());
    return std::span(one_).subspan(static_cast<std::size_t>(before_), static_cast<std::size_t>(this->rows()));
  }

  /// sums[j] += Σ_i P(i, j)
  template <class Sum>
  void add_columns(std::span<const A> f, std::span<const A> g, std::span<Sum> sums) {
    const auto& [n0, n1, n2] = grid_.extents;
    if (one_.empty()) return;
    std::ranges::fill(one_, unreached<A>);
    std::ranges::copy(f, one_.begin() + static_cast<std::ptrdiff_t>(before_));
    sum_along(tables_[2], n2, planes_.count * n1, 1, {0, n2}, {0, n2}, one_.data(), other_.data());
    sum_along(tables_[1], n1, planes_.count, n2, {0, n1}, {0, n1}, other_.data(), one_.data());
    sum_along(tables_[0], n0, 1, n1 * n2, {0, n0}, planes_, one_.data(), all_.data());
    for (std::size_t j = 0; j < sums.size(); ++j) sums[j] += static_cast<Sum>(std::exp(all_[j] + g[j]));
  }

  NodeGrid grid_;
  double power_;      // of differences of coordinates
  Range planes_;      // of the first axis
  Index before_ = 0;  // nodes of these in front of this rank's
  double epsilon_ = 1;
  std::array<Table, 3> tables_;
  std::vector<A> one_, other_;  // logarithms of these planes
  std::vector<A> all_;          // of all nodes
  std::vector<A> lines_;        // of each thread
  simd::ExponentialKernels<A, A> exponential_ = simd::exponential_kernels<A, A>();
  simd::DistanceKernels<A> distances_ = simd::distance_kernels<A>();
};

}  // namespace

template <class A>
std::unique_ptr<CostOperand<A>> grid_costs(const PointClouds<A>& clouds, int threads) {
  return std::make_unique<GridCosts<A>>(clouds, threads);
}

template <class A>
std::vector<A> mean_places(const PointClouds<A>& clouds, double epsilon, std::span<const A> g, int threads) {
  GridCosts<A> costs(clouds, threads);
  costs.set_epsilon(epsilon, 1, 1);
  return costs.mean_places(g);
}

#define PLAIT_INSTANTIATE(A)                                                       \
  template std::unique_ptr<CostOperand<A>> grid_costs(const PointClouds<A>&, int); \
  template std::vector<A> mean_places(const PointClouds<A>&, double, std::span<const A>, int)
PLAIT_INSTANTIATE(double);
PLAIT_INSTANTIATE(float);
#undef PLAIT_INSTANTIATE

}  // namespace plait::sinkhorn
