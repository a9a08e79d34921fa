#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "plait/base/contract.hpp"
#include "plait/base/index.hpp"
#include "plait/base/memory.hpp"
#include "plait/halo/exchange.hpp"
#include "plait/layout/box.hpp"
#include "plait/mpi/context.hpp"
#include "plait/poisson/level.hpp"
#include "plait/poisson/row_kernels.hpp"

namespace plait::poisson {

/// From a point to one around it, by -1, 0 or 1 on each axis.
using Step = std::array<Index, layout::axes>;
/// All of them, in the order of memory; one stays.
inline constexpr std::size_t steps = 27, here = 13;
[[nodiscard]] constexpr std::size_t number_of(const Step& step) {
  return static_cast<std::size_t>((step[0] + 1) * 9 + (step[1] + 1) * 3 + step[2] + 1);
}
[[nodiscard]] constexpr Step step_of(std::size_t number) {
  const auto n = static_cast<Index>(number);
  return {n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1};
}

/// Symmetric equations: e of `PointGrid` at `here`, and a at the steps after it, by point; the other steps are opposite
/// to these. Empty: nothing.
template <class T>
using PointEquations = std::array<AlignedVector<T>, steps>;

template <class T>
[[nodiscard]] bool has(const PointEquations<T>& equations, std::size_t step) {
  return !equations[std::max(step, steps - 1 - step)].empty();
}

/// Such equations on a grid, 3 points on a line, 9 in a plane, 27 in space:
///
///     (A u)_p = e_p u_p + Σ_s a_s(p) (u_{p+s} - u_p),    diagonal d_p = e_p - Σ_s a_s(p)
///
/// so that e need not be told from the much larger a. No rank cuts the last axis. Fields have two layers of
/// ghosts on the axes that are used, 0 beyond sides.
template <class C>
class PointGrid {
 public:
  using Field = AlignedVector<C>;

  /// Collective over the context.
  PointGrid(mpi::Context& context, layout::BoxPartition partition, std::array<bool, layout::axes> is_used,
            std::array<bool, layout::axes> is_periodic)
      : context_(context),
        partition_(std::move(partition)),
        own_(partition_.box(context.rank())),
        is_used_(is_used),
        is_periodic_(is_periodic),
        memory_(own_.grown(ghost_layers(2))),
        row_(at(own_.extent(2) + most_lanes)),
        ghosts_(context, filling(1), Index{sizeof(C)}, 1, "grid") {
    PLAIT_ASSERT(partition_.parts()[2] == 1, "no rank cuts the last axis");
  }

  [[nodiscard]] const layout::BoxPartition& partition() const noexcept { return partition_; }
  [[nodiscard]] const layout::Box& own() const noexcept { return own_; }
  [[nodiscard]] const std::array<bool, layout::axes>& is_used() const noexcept { return is_used_; }
  [[nodiscard]] const std::array<bool, layout::axes>& is_periodic() const noexcept { return is_periodic_; }
  [[nodiscard]] layout::Point ghost_layers(Index width = 2) const {
    return {is_used_[0] ? width : 0, is_used_[1] ? width : 0, width};
  }
  [[nodiscard]] Index row_length() const noexcept { return own_.extent(2); }
  [[nodiscard]] Index offset_of(const layout::Point& point) const noexcept { return memory_.offset_of(point); }
  /// From a point to another one in memory.
  [[nodiscard]] Index distance(const Step& step) const noexcept {
    return (step[0] * memory_.extent(1) + step[1]) * memory_.extent(2) + step[2];
  }
  template <class T = C>
  [[nodiscard]] AlignedVector<T> zeros() const {
    return AlignedVector<T>(at(memory_.points() + most_lanes));
  }
  template <class AnyField>
  [[nodiscard]] auto& value(AnyField& field, const layout::Point& point) const {
    return field[at(offset_of(point))];
  }
  /// One layer. Collective.
  void fill_ghosts(Field& field) { ghosts_(field.data()); }

  /// a at a step other than `here` from a point, from that point's memory on.
  template <class T>
  [[nodiscard]] const T* coefficients(const PointEquations<T>& equations, std::size_t step, Index offset) const {
    if (step >= here) return equations[step].data() + offset;
    return equations[steps - 1 - step].data() + offset + distance(step_of(step));
  }
  /// Fills both layers of ghosts of the equations, too. Collective.
  void set_equations(PointEquations<double>& equations) {
    halo::Exchange both(context_, filling(2), Index{sizeof(double)}, 1, "grid");
    for (std::size_t s = here; s < steps; ++s) {
      if (equations[s].empty()) continue;
      both(equations[s].data());
      a_[s] = zeros();
      std::ranges::transform(equations[s], a_[s].begin(), [](double a) { return static_cast<C>(a); });
    }
    inverse_ = zeros();
    std::ranges::transform(diagonal(equations), inverse_.begin(),
                           [](double d) { return d > 0 ? static_cast<C>(1 / d) : C{}; });
  }
  /// d, also in a layer of ghosts.
  [[nodiscard]] AlignedVector<double> diagonal(const PointEquations<double>& equations) const {
    AlignedVector<double> result = equations[here];
    layout::for_each_row(own_.grown(ghost_layers(1)), [&](const layout::Point& first) {
      const Index offset = offset_of(first);
      for (std::size_t s = 0; s < steps; ++s) {
        if (s == here || !has(equations, s)) continue;
        const double* const a = coefficients(equations, s, offset);
        for (Index x = 0; x < row_length() + 2; ++x) result[at(offset + x)] -= a[x];
      }
    });
    return result;
  }

  /// One sweep of Gauss-Seidel, by rows of equal parity on axes 0 and 1, in each first one and then the other half of
  /// its points; backwards in the opposite order, so that both together are symmetric. Ghosts are filled after it.
  /// \pre  they are before it; collective
  void sweep(bool is_forward, Field& u, const Field& b) {
    const Index groups = (is_used_[0] ? 2 : 1) * (is_used_[1] ? 2 : 1);
    for (Index g = 0; g < groups; ++g) {
      const Index group = is_forward ? g : groups - 1 - g;
      for_each_row([&](Index offset, Index i, Index j) {
        const Index parity = (is_used_[0] ? i & 1 : 0) * (is_used_[1] ? 2 : 1) + (is_used_[1] ? j & 1 : 0);
        if (parity == group) relax_row(is_forward, u, b, offset);
      });
      fill_ghosts(u);
    }
  }
  /// r ← b - A u; its ghosts are filled, those of u have to be. Collective.
  void residual(const Field& u, const Field& b, Field& r) {
    for_each_row([&](Index offset, Index, Index) {
      kernel_(row(u, b, offset), row_length(), row_.data());
      std::copy_n(row_.begin(), row_length(), r.begin() + offset);
    });
    fill_ghosts(r);
  }

  template <class F>
  void for_each_row(const F& f) const {
    layout::for_each_row(own_, [&](const layout::Point& first) { f(memory_.offset_of(first), first[0], first[1]); });
  }

 private:
  [[nodiscard]] halo::Filling filling(Index width) const {
    halo::Filling filling = halo::Filling::ghosts(partition_, ghost_layers(), is_periodic_);
    filling.width = ghost_layers(width);
    return filling;
  }

  [[nodiscard]] PointRow<C> row(const Field& u, const Field& b, Index offset) const {
    PointRow<C> row{.b = b.data() + offset, .u = u.data() + offset, .excess = a_[here].data() + offset};
    for (std::size_t s = 0; s < steps; ++s) {
      if (s != here && has(a_, s)) row.add(coefficients(a_, s, offset), row.u + distance(step_of(s)));
    }
    return row;
  }

  void relax_row(bool is_forward, Field& u, const Field& b, Index offset) {
    const Index n = row_length();
    C* const at_row = u.data() + offset;
    const C* const inverse = inverse_.data() + offset;
    const PointRow<C> equations = row(u, b, offset);
    for (const Index half : {is_forward ? Index{0} : Index{1}, is_forward ? Index{1} : Index{0}}) {
      kernel_(equations, n, row_.data());
      for (Index x = half; x < n; x += 2) at_row[x] += inverse[x] * row_[at(x)];
      if (!is_periodic_[2]) continue;
      at_row[-1] = at_row[n - 1];
      at_row[n] = at_row[0];
    }
  }

  mpi::Context& context_;
  layout::BoxPartition partition_;
  layout::Box own_;
  std::array<bool, layout::axes> is_used_, is_periodic_;
  layout::Box memory_;
  PointEquations<C> a_;
  Field inverse_;  // of the diagonal, or 0
  std::vector<C> row_;
  void (*kernel_)(const PointRow<C>&, Index, C*) = row_kernels<C>().point_residual;
  halo::Exchange ghosts_;
};

}  // namespace plait::poisson
