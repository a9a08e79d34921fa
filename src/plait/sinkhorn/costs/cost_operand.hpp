#pragma once

#include <array>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/base/memory.hpp"
#include "plait/mpi/context.hpp"
#include "plait/simd/row_block.hpp"
#include "plait/simd/sweep/exponential_kernels.hpp"
#include "plait/simd/sweep/scaling_kernels.hpp"
#include "plait/sinkhorn/marginals/feasibility.hpp"
#include "plait/sinkhorn/marginals/marginals.hpp"
#include "plait/sinkhorn/marginals/matrix_check.hpp"
#include "plait/sinkhorn/sweep/sweep.hpp"
#include "plait/sinkhorn/sweep/update.hpp"

namespace plait::sinkhorn {

/// The vectors of one of several problems that share costs. A sweep moves f, and `move_columns` g.
template <class A>
struct LogVectors {
  std::span<const double> marginals;  // of the rows; not looked at where they are to have sums in common
  std::span<A> f;
  std::span<A> g;
  std::span<A> sums;  // where the columns are summed up
  std::span<const double> column_marginals = {};
};

/// Sums between these lost nothing to underflow or overflow that could be seen in a plan.
template <class A>
inline constexpr A lowest_sum = std::numeric_limits<A>::min() / std::numeric_limits<A>::epsilon();

/// Sums over a rank's rows of a plan: Σ C P, Σ P, Σ (f + g) P.
struct PlanTotals {
  double cost = 0;
  double mass = 0;
  double potentials = 0;
};

/// A rank's rows of costs in the logarithmic domain: stored, or made when they are needed. Potentials are in units of
/// the epsilon that was set last. Sweeps run on several threads. Local, but for `reachable` and `feasibility`.
template <class A>
class CostOperand {
 public:
  /// \param threads  this rank's: see `mpi::NodeTopology::threads`
  CostOperand(Index rows, Index columns, int threads) : rows_(rows), columns_(columns), threads_(threads) {}
  virtual ~CostOperand() = default;

  [[nodiscard]] Index rows() const noexcept { return rows_; }
  [[nodiscard]] Index columns() const noexcept { return columns_; }

  /// To be called before all others.
  /// \param problems   the most that are swept at once
  /// \param in_common  the most of which rows are to have sums in common
  virtual void set_epsilon(double epsilon, std::size_t problems, std::size_t in_common = 1) {
    set_factor(epsilon);
    make_room(problems, in_common, {simd::most_rows_at_a_time / 2, simd::most_rows_at_a_time});
  }

  /// Gives the rows of each problem their sums, and adds what they then have to those of the columns:
  ///
  ///     f[i] ← log r[i] - log Σ_j exp(g[j] - C(i, j) / epsilon);   sums[j] += Σ_i exp(f[i] + g[j] - C(i, j) / epsilon)
  ///
  /// or, with an update that is not balanced, what that makes of f. One read of the costs, and one exponential an
  /// entry for each problem. The result of each is added to `swept`.
  virtual void sweep(std::span<const LogVectors<A>> problems, const LogUpdate& update, std::span<RowsSwept> swept);

  /// The same, but the rows of all problems get the weighted geometric mean of their sums, the logarithms of which are
  /// `log_sums`. Rows that are out of reach of one problem get nothing.
  virtual void sweep_in_common(std::span<const LogVectors<A>> problems, std::span<const double> weights,
                               std::span<double> log_sums);

  /// Calls visit(k, f[i] - C(i, columns[k]) / epsilon) for all rows i and some columns.
  template <class Visit>
  void for_each_exponent(std::span<const std::size_t> columns, std::span<const A> f, const Visit& visit) const {
    for (Index i = 0; i < rows_; ++i) {
      const auto of_row = static_cast<double>(f[static_cast<std::size_t>(i)]);
      for (std::size_t k = 0; k < columns.size(); ++k) {
        visit(k, of_row + static_cast<double>(factor_) * cost(i, columns[k]));
      }
    }
  }

  /// plan ← exp(f + g - C / epsilon), row i. Threads may call it at the same time.
  void plan_row(Index i, std::span<const A> f, std::span<const A> g, std::span<A> plan) const;
  /// Calls visit(i, plan) for each row, one after the other; threads make some rows at the same time.
  void for_each_row(std::span<const A> f, std::span<const A> g,
                    const std::function<void(Index, std::span<const A>)>& visit) const;
  /// Adds the plan up, on several threads: rows[i] ← Σ_j P(i, j), and columns[j] += Σ_i P(i, j) unless that is empty.
  [[nodiscard]] virtual PlanTotals sum_up(std::span<const A> f, std::span<const A> g, std::span<double> rows,
                                          std::span<double> columns);
  /// Σ_j C P of row i of a plan. Threads may call it at the same time.
  [[nodiscard]] virtual double cost_of(Index i, std::span<const A> plan) const = 0;

  /// row ← exp(f + g - C(i, ·) / epsilon) with the f that makes its largest entry 1, which is returned. Threads may
  /// call it at the same time.
  [[nodiscard]] A fill_row(Index i, std::span<const A> g, A* row) const;
  /// The same of all rows, which are added to the sums of columns.
  void fill(matrix_view<A> kernel, std::span<A> f, std::span<const A> g, std::span<A> sums) const;

  /// See `sinkhorn::reachable`; where sums must not be missed, too. Everything is, unless costs may be infinite.
  /// Collective.
  [[nodiscard]] virtual std::vector<CheckedMarginals> reachable(mpi::Context& context,
                                                                std::span<const CheckedMarginals> problems);

  /// See `sinkhorn::feasibility`. Collective.
  [[nodiscard]] virtual std::vector<Feasibility> feasibility(mpi::Context& /*context*/,
                                                             std::span<const RowHeights> problems) {
    return std::vector<Feasibility>(problems.size());
  }

 protected:
  using SumsOfRows = std::array<A, simd::most_rows_at_a_time>;
  /// Exponentials of a block of rows that are not yet among the sums of the columns.
  struct Pending {
    simd::RowBlock<A> e = {};
    SumsOfRows weights = {};  // of the rows
    std::span<A> sums = {};   // of all columns
  };

  [[nodiscard]] int threads() const noexcept { return threads_; }
  void set_factor(double epsilon) noexcept { factor_ = static_cast<A>(-1 / epsilon); }
  /// How many rows are swept at a time: the least where exponentials of more outgrow the second-level cache.
  struct RowsAtATime {
    Index least;
    Index most;
  };
  /// For sweeps, as `set_epsilon` has it.
  void make_room(std::size_t problems, std::size_t in_common, RowsAtATime rows);
  /// e(i, j) = exp(f[i] + g[j] + factor C(first + i, j)) and the sums of its rows, as `simd::ExponentialKernels` has
  /// it.
  virtual void exponentials(Index first, A factor, const A* f, const A* g, simd::RowBlock<A> e, A* sums) const = 0;
  /// What a sweep takes g of problem k as: itself, or what is made of it once for all rows.
  [[nodiscard]] virtual const A* prepared(std::size_t /*k*/, std::span<const A> g) { return g.data(); }
  /// Exponentials in the place of others, which are added to the sums of the columns before.
  /// \param g  as `prepared` has it
  virtual void exponentials_after(const Pending& before, Index first, A factor, const A* f, const A* g,
                                  simd::RowBlock<A> e, A* sums) const {
    add(before);
    exponentials(first, factor, f, g, e, sums);
  }
  void add(const Pending& block) const {
    if (!block.sums.empty()) add_rows(block.e, block.weights, block.sums);
  }
  /// max_j g[j] + factor C(i, j)
  [[nodiscard]] virtual A maximum(Index i, A factor, const A* g) const = 0;
  [[nodiscard]] virtual double cost(Index i, std::size_t j) const = 0;

 private:
  /// A thread's exponentials of a block of rows, of problem k.
  [[nodiscard]] simd::RowBlock<A> powers(std::size_t thread, Index count, std::size_t k = 0);
  /// Sweeps over a block of a slab's rows of problem k, in the place of the block before; then this one is pending.
  void sweep_block(const LogVectors<A>& problem, std::size_t k, const LogUpdate& update, const Slab<A>& slab,
                   Index first, const simd::RowBlock<A>& e, Pending& pending) const;
  /// Takes row i again if its sum is not sound, with its true maximum. Whether the row reaches a column.
  [[nodiscard]] bool make_sound(const LogVectors<A>& problem, Index i, A& sum, const simd::RowBlock<A>& e) const;
  /// Gives row i what all problems have in common; `of_rows` becomes what exponentials are multiplied by.
  [[nodiscard]] double move_in_common(std::span<const LogVectors<A>> problems, std::span<const double> weights, Index i,
                                      std::size_t in_block, std::size_t thread, std::span<SumsOfRows> of_rows);
  void add_rows(const simd::RowBlock<A>& e, const SumsOfRows& weights, std::span<A> sums) const {
    scaling_.column_sums({e.data, e.rows, e.columns, e.leading_dimension}, weights.data(), sums.data(), {});
  }

  Index rows_;
  Index columns_;
  int threads_;
  A factor_ = 0;  // -1 / epsilon
  Index rows_at_a_time_ = 1;
  Index pitch_ = 1;  // of rows of exponentials
  std::size_t in_common_ = 1;
  std::optional<Slabs<A>> slabs_;
  AlignedVector<A> powers_;          // of each thread, and of each problem that has sums in common with others
  std::vector<SumsOfRows> of_rows_;  // likewise
  std::vector<const A*> prepared_;   // of each problem, in a sweep
  simd::ScalingKernels<A, A> scaling_ = simd::scaling_kernels<A, A>();
};

extern template class CostOperand<double>;
extern template class CostOperand<float>;

/// Costs that lie in memory, row-major.
template <class T, class A>
class StoredCosts final : public CostOperand<A> {
 public:
  StoredCosts(matrix_view<const T> costs, int threads)
      : CostOperand<A>(costs.rows(), costs.columns(), threads), costs_(costs) {}

  [[nodiscard]] std::vector<CheckedMarginals> reachable(mpi::Context& context,
                                                        std::span<const CheckedMarginals> problems) override {
    return sinkhorn::reachable<T>(context, costs_, problems);
  }
  [[nodiscard]] std::vector<Feasibility> feasibility(mpi::Context& context,
                                                     std::span<const RowHeights> problems) override {
    return sinkhorn::feasibility<T>(context, costs_, Support::finite, problems);
  }
  [[nodiscard]] double cost_of(Index i, std::span<const A> plan) const override {
    const T* row = block(i, 1).data;
    double cost = 0;
    for (std::size_t j = 0; j < plan.size(); ++j) {
      if (plan[j] != 0) cost += static_cast<double>(row[j]) * static_cast<double>(plan[j]);
    }
    return cost;
  }

 private:
  void exponentials(Index first, A factor, const A* f, const A* g, simd::RowBlock<A> e, A* sums) const override {
    exponential_.exponential_sums(block(first, e.rows), factor, f, g, e, sums);
  }
  [[nodiscard]] A maximum(Index i, A factor, const A* g) const override {
    A maximum{};
    exponential_.row_maxima(block(i, 1), factor, g, &maximum);
    return maximum;
  }
  [[nodiscard]] double cost(Index i, std::size_t j) const override { return static_cast<double>(block(i, 1).data[j]); }
  [[nodiscard]] simd::RowBlock<const T> block(Index first, Index count) const {
    return {costs_.data() + first * costs_.leading_dimension(), count, costs_.columns(), costs_.leading_dimension()};
  }

  matrix_view<const T> costs_;
  simd::ExponentialKernels<T, A> exponential_ = simd::exponential_kernels<T, A>();
};

}  // namespace plait::sinkhorn
