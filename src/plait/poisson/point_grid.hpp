#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/halo/exchange.hpp"
#include "plait/layout/box.hpp"
#include "plait/mpi/context.hpp"
#include "plait/poisson/level.hpp"
#include "plait/poisson/row_kernels.hpp"

namespace plait::poisson {

/// Symmetric equations on a grid that hang together with all points around: 3 on a line, 9 in a plane, 27 in space,
///
///     (A u)_p = d_p u_p + Σ_s a_s(p) u_{p+s} + a_s(p-s) u_{p-s}
///
/// where s are half of the steps to points around, the other half being opposite to them. No rank cuts the last axis.
/// Fields have two layers of ghosts on the axes that are used, 0 beyond sides.
template <class T>
class PointGrid {
 public:
  using Number = T;
  using Field = Values<T>;
  static constexpr Index layers = 2;
  using Step = std::array<Index, layout::axes>;
  /// Steps of -1, 0 and 1 on each axis, in the order of memory; step 13 stays.
  static constexpr std::size_t steps = 27, here = 13;
  [[nodiscard]] static constexpr std::size_t number(const Step& step) {
    return static_cast<std::size_t>((step[0] + 1) * 9 + (step[1] + 1) * 3 + step[2] + 1);
  }
  [[nodiscard]] static constexpr Step step(std::size_t number) {
    const auto n = static_cast<Index>(number);
    return {n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1};
  }

  /// Collective over the context.
  PointGrid(mpi::Context& context, layout::BoxPartition partition, std::array<bool, layout::axes> is_used,
            std::array<bool, layout::axes> is_periodic);

  [[nodiscard]] const layout::BoxPartition& partition() const noexcept { return partition_; }
  [[nodiscard]] const layout::Box& own() const noexcept { return own_; }
  [[nodiscard]] const std::array<bool, layout::axes>& is_used() const noexcept { return is_used_; }
  [[nodiscard]] const std::array<bool, layout::axes>& is_periodic() const noexcept { return is_periodic_; }
  [[nodiscard]] const layout::Point& ghost_layers() const noexcept { return ghosts_; }
  [[nodiscard]] layout::Point ghost_layers(Index width) const;
  [[nodiscard]] Index row_length() const noexcept { return own_.extent(2); }
  [[nodiscard]] Index offset_of(const layout::Point& point) const noexcept { return memory_.offset_of(point); }
  /// From a point to another one in memory.
  [[nodiscard]] Index distance(const Step& step) const noexcept {
    return (step[0] * memory_.extent(1) + step[1]) * memory_.extent(2) + step[2];
  }
  [[nodiscard]] Values<T> zeros() const { return Values<T>(at(memory_.points()) + at(most_lanes)); }
  template <class AnyField>
  [[nodiscard]] auto& value(AnyField& field, const layout::Point& point) const {
    return field[at(offset_of(point))];
  }
  /// Ghosts, one layer or both. Collective.
  void fill_ghosts(Values<T>& field, Index width = 1);

  /// a_s for the steps from `here` on; empty: none. Their ghosts are filled then. Collective.
  void set_equations(std::array<Values<T>, steps> coefficients);
  [[nodiscard]] bool has(std::size_t step) const noexcept { return !a_[std::max(step, steps - 1 - step)].empty(); }
  /// What u at a step from a point is multiplied by, from that point's memory on.
  [[nodiscard]] const T* coefficients(std::size_t step, Index offset) const {
    if (step >= here) return a_[step].data() + offset;
    return a_[steps - 1 - step].data() + offset + distance(PointGrid::step(step));
  }

  /// One sweep of Gauss-Seidel, by rows of equal parity on axes 0 and 1, in each first one and then the other half of
  /// its points; backwards in the opposite order, so that both together are symmetric. Ghosts are filled after it.
  /// \pre  they are before it; collective
  void sweep(bool is_forward, Values<T>& u, const Values<T>& b);
  /// r ← b - A u; its ghosts are filled, those of u have to be. Collective.
  void residual(const Values<T>& u, const Values<T>& b, Values<T>& r);

  template <class F>
  void for_each_row(const F& f) const {
    for (Index i = own_.low[0]; i < own_.high[0]; ++i) {
      for (Index j = own_.low[1]; j < own_.high[1]; ++j) f(memory_.offset_of({i, j, own_.low[2]}), i, j);
    }
  }

 private:
  [[nodiscard]] PointRow<T> row(const Values<T>& u, const Values<T>& b, Index offset) const;
  void relax_row(bool is_forward, Values<T>& u, const Values<T>& b, Index offset);

  layout::BoxPartition partition_;
  layout::Box own_;
  std::array<bool, layout::axes> is_used_, is_periodic_;
  layout::Point ghosts_{};
  layout::Box memory_;
  std::array<Values<T>, steps> a_;
  Values<T> inverse_;  // of the diagonal, or 0
  std::vector<T> row_;
  void (*kernel_)(const PointRow<T>&, Index, T*);
  halo::Exchange one_, both_;
};

}  // namespace plait::poisson
