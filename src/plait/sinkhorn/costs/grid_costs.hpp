#pragma once

#include <array>
#include <span>
#include <vector>

#include "plait/simd/sweep/distance_kernels.hpp"
#include "plait/simd/sweep/exponential_kernels.hpp"
#include "plait/sinkhorn/costs/cost_operand.hpp"
#include "plait/sinkhorn/costs/point_clouds.hpp"

namespace plait::sinkhorn {

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
  GridCosts(const PointClouds<A>& clouds, int threads);

  void set_epsilon(double epsilon, std::size_t problems, std::size_t in_common = 1) override;
  void sweep(std::span<const LogVectors<A>> problems, const LogUpdate& update, std::span<RowsSwept> swept) override;
  void sweep_in_common(std::span<const LogVectors<A>> problems, std::span<const double> weights,
                       std::span<double> log_sums) override;
  [[nodiscard]] PlanTotals sum_up(std::span<const A> f, std::span<const A> g, std::span<double> rows,
                                  std::span<double> columns) override;
  [[nodiscard]] double cost_of(Index i, std::span<const A> plan) const override;

  /// Where each of this rank's nodes goes on the average, as rows × dimensions: see `barycentric_projection`.
  [[nodiscard]] std::vector<A> mean_places(std::span<const A> g);

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

  void exponentials(Index first, A factor, const A* f, const A* g, simd::RowBlock<A> e, A* sums) const override;
  [[nodiscard]] A maximum(Index i, A factor, const A* g) const override;
  [[nodiscard]] double cost(Index i, std::size_t j) const override;

  [[nodiscard]] double cost_on_axis(int axis, Index i, Index j) const;
  /// The same with another factor of each term, which may be 0.
  template <class Weight>
  [[nodiscard]] Table table(int axis, const Weight& weight) const;
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
  void sum_products(const Table& table, const LinesOfAxis& lines, Range targets, Range sources,
                    const Lines& memory) const;
  void sum_exponentials(const Table& table, const LinesOfAxis& lines, Range targets, Range sources,
                        const Lines& memory) const;

  /// to ← logarithms of sums along an axis of what are logarithms; `outer` and `inner` count nodes of axes before and
  /// behind it.
  void sum_along(const Table& table, Index extent, Index outer, Index inner, Range targets, Range sources,
                 const A* from, A* to);
  /// log Σ_j exp(g[j] - C(i, j) / epsilon) of this rank's nodes.
  [[nodiscard]] std::span<const A> log_sums_of_rows(std::span<const A> g, const Axes& axes);
  /// sums[j] += Σ_i P(i, j)
  template <class Sum>
  void add_columns(std::span<const A> f, std::span<const A> g, std::span<Sum> sums);

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

extern template class GridCosts<double>;
extern template class GridCosts<float>;

}  // namespace plait::sinkhorn
