#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/halo/exchange.hpp"
#include "plait/layout/box.hpp"
#include "plait/mpi/context.hpp"
#include "plait/poisson/point_grid.hpp"

namespace plait::poisson {

/// What goes from a grid to the next coarser one and back where k jumps. Coarse points are every other point of the
/// axes that are halved. Between them u is interpolated as the equations have it without sources: on a line, where what
/// crosses it is taken to have the same values, then in a plane, then in space. So fluxes are continuous, not slopes.
///
/// R is Pᵀ and the coarse operator Pᵀ A P: symmetric and positive definite where A is. Weights are numbers C, products
/// doubles.
///
/// Source: Dendy, "Black box multigrid", J. Comput. Phys. 48 (1982).
template <class C>
class OperatorTransfer {
 public:
  using Grid = PointGrid<C>;
  using Field = typename Grid::Field;

  /// Replaces the equations of the fine grid, their ghosts filled, by those of the coarse one, whose partition may be
  /// another one. The grids outlive this. Collective.
  /// \param aligned  of the coarse points, where the fine ones are
  OperatorTransfer(mpi::Context& context, Grid& fine, PointEquations<double>& equations, Grid& coarse,
                   const layout::BoxPartition& aligned, const layout::Coarsening& how)
      : fine_(fine), how_(how), aligned_(context, aligned, fine.is_used(), fine.is_periodic()) {
    for (std::size_t a = 0; a < layout::axes; ++a) find_places(a);
    find_weights(equations);
    equations = product(equations);
    equations[here] = excess();
    if (coarse.partition() != aligned) {
      moved_ = aligned_.zeros();
      const layout::Point ghosts = coarse.ghost_layers();
      const auto move = [&](const auto& from, const auto& to, Index width) {
        return halo::Filling{from, to, ghosts, ghosts, coarse.ghost_layers(width), fine.is_periodic()};
      };
      down_.emplace(context, move(aligned, coarse.partition(), 0), Index{sizeof(C)}, 1, "coarse grid");
      up_.emplace(context, move(coarse.partition(), aligned, 1), Index{sizeof(C)}, 1, "coarse grid");
      halo::Exchange doubles(context, move(aligned, coarse.partition(), 0), Index{sizeof(double)}, 1, "coarse grid");
      for (Values& values : equations) {
        if (values.empty()) continue;
        Values there = coarse.template zeros<double>();
        doubles(std::array{halo::Field{values.data(), there.data()}});
        values = std::move(there);
      }
    }
    coarse.set_equations(equations);
  }

  /// b ← R r; ghosts of r are filled. Collective.
  void restrict(const Field& r, Field& b) {
    Field& to = down_ ? moved_ : b;
    const Index stride = how_.halves[2] ? 2 : 1;
    aligned_.for_each_row([&](Index offset, Index i, Index j) {
      const Index from = fine_.offset_of({place(0, i), place(1, j), place(2, aligned_.own().low[2])});
      C* const out = to.data() + offset;
      std::fill_n(out, aligned_.row_length(), C{});
      for (std::size_t s = 0; s < steps; ++s) {
        if (weights_[s].empty()) continue;
        const C *const weight = weights_[s].data() + offset, *const in = r.data() + from + fine_.distance(step_of(s));
        for (Index x = 0; x < aligned_.row_length(); ++x) out[x] += weight[x] * in[stride * x];
      }
    });
    if (down_) (*down_)(std::array{halo::Field{moved_.data(), b.data()}});
  }

  /// u ← u + P e, e with its ghosts. Collective; ghosts of u are not filled.
  void interpolate(const Field& e, Field& u) {
    if (up_) (*up_)(std::array{halo::Field{e.data(), moved_.data()}});
    const Field& from = up_ ? moved_ : e;
    const layout::Box& own = fine_.own();
    const Index stride = how_.halves[2] ? 2 : 1, reach = how_.halves[2] ? 1 : 0, columns = aligned_.row_length();
    layout::for_each_row(aligned_.own().grown(aligned_.ghost_layers(1)), [&](const layout::Point& row) {
      for (std::size_t s = 0; s < steps; ++s) {
        if (weights_[s].empty()) continue;
        const Step step = step_of(s);
        const Index to_i = place(0, row[0]) + step[0], to_j = place(1, row[1]) + step[1];
        if (to_i < own.low[0] || to_i >= own.high[0] || to_j < own.low[1] || to_j >= own.high[1]) continue;
        const Index first = stride * -reach + how_.first[2] * reach + step[2];  // where the coarse ghost before 0 is
        const Index offset = aligned_.offset_of({row[0], row[1], -reach});
        const C *const weight = weights_[s].data() + offset, *const in = from.data() + offset;
        C* const out = u.data() + fine_.offset_of({to_i, to_j, 0}) + first;
        for (Index x = 0; x < columns + 2 * reach; ++x) {
          const Index at_column = first + stride * x;
          if (at_column >= 0 && at_column < fine_.row_length()) out[stride * x] += weight[x] * in[x];
        }
      }
    });
  }

 private:
  // Coarse step, steps from coarse points to fine ones at both ends, and the fine step between these.
  struct Way {
    Index coarse, from, to, fine;
  };
  // Of coarse points, also those one beyond periodic sides.
  void find_places(std::size_t axis) {
    const Index n = aligned_.partition().whole().high[axis], extent = fine_.partition().whole().high[axis];
    for (Index coarse = aligned_.own().low[axis] - 1; coarse <= aligned_.own().high[axis]; ++coarse) {
      const Index turns = fine_.is_periodic()[axis] ? (coarse < 0 ? -1 : coarse >= n ? 1 : 0) : 0;
      places_[axis].push_back(!how_.halves[axis] ? coarse
                                                 : 2 * (coarse - turns * n) + how_.first[axis] + turns * extent);
    }
  }
  // The fine point at a coarse one.
  [[nodiscard]] Index place(std::size_t axis, Index coarse) const {
    return places_[axis][at(coarse - aligned_.own().low[axis] + 1)];
  }
  // Whether there is a fine point a step away, and it is no coarse one.
  [[nodiscard]] bool is_between(std::size_t axis, Index coarse, Index step) const {
    const Index fine = place(axis, coarse) + step;
    if (fine_.is_periodic()[axis]) return fine != place(axis, coarse + step);
    return fine >= 0 && fine < fine_.partition().whole().high[axis];
  }

  // Of a coarse point, along an axis.
  [[nodiscard]] std::vector<Way> ways(std::size_t axis, Index own) const {
    std::vector<Way> ways;
    const Index reach = how_.halves[axis] ? 1 : 0, around = fine_.is_used()[axis] ? 1 : 0;
    for (Index coarse = -around; coarse <= around; ++coarse) {
      for (Index from = -reach; from <= reach; ++from) {
        for (Index to = -reach; to <= reach; ++to) {
          const Index fine = place(axis, own + coarse) + to - place(axis, own) - from;
          if (fine >= -1 && fine <= 1) ways.push_back({coarse, from, to, fine});
        }
      }
    }
    return ways;
  }

  void find_weights(const PointEquations<double>& equations) {
    for (std::size_t count = 0; count <= layout::axes; ++count) {
      for (std::size_t s = 0; s < steps; ++s) {
        const Step step = step_of(s);
        std::size_t moves = 0;
        bool can_be = true;
        for (std::size_t a = 0; a < layout::axes; ++a) {
          moves += step[a] != 0 ? 1U : 0U;
          can_be = can_be && (step[a] == 0 || how_.halves[a]);
        }
        if (moves == count && can_be) weights_[s] = weights(s, equations);
      }
    }
    for (Field& values : weights_) {
      if (!values.empty()) aligned_.fill_ghosts(values);
    }
  }

  // By the equations of the fine points that are this step from coarse ones. What is across is taken to be alike; what
  // is nearer to the coarse point has its weight already.
  [[nodiscard]] Field weights(std::size_t number, const PointEquations<double>& equations) const {
    const Step step = step_of(number);
    Field result = aligned_.zeros();
    struct Part {
      std::size_t step;
      const C* weight;  // of the coarse point there; null: it has none
    };
    std::vector<Part> parts;
    for (std::size_t s = 0; s < steps; ++s) {
      if (!has(equations, s)) continue;
      const Step to = step_of(s);
      Step nearer = step;
      bool is_across = true, comes_nearer = true;
      for (std::size_t a = 0; a < layout::axes; ++a) {
        if (step[a] == 0 || to[a] == 0) continue;
        is_across = false;
        comes_nearer = comes_nearer && to[a] == -step[a];
        nearer[a] = 0;
      }
      if (!is_across) parts.push_back({s, comes_nearer ? weights_[number_of(nearer)].data() : nullptr});
    }
    const Index n = aligned_.row_length(), stride = how_.halves[2] ? 2 : 1;
    std::vector<double> all(at(n)), sum(at(n));
    aligned_.for_each_row([&](Index offset, Index i, Index j) {
      const auto is_missing = [&](std::size_t a, Index coarse) {
        return step[a] != 0 && !is_between(a, coarse, step[a]);
      };
      if (is_missing(0, i) || is_missing(1, j)) return;
      C* const out = result.data() + offset;
      if (number == here) {
        std::fill_n(out, n, C{1});
        return;
      }
      std::ranges::fill(sum, 0);
      const Index fine = fine_.offset_of({place(0, i), place(1, j), place(2, 0)}) + fine_.distance(step);
      for (Index x = 0; x < n; ++x) all[at(x)] = std::max(equations[here][at(fine + stride * x)], 0.);
      for (const Part& part : parts) {
        const double* const c = fine_.coefficients(equations, part.step, fine);
        for (Index x = 0; x < n; ++x) all[at(x)] -= c[stride * x];
        if (part.weight == nullptr) continue;
        const C* const weight = part.weight + offset;
        for (Index x = 0; x < n; ++x) sum[at(x)] -= c[stride * x] * static_cast<double>(weight[x]);
      }
      for (Index x = 0; x < n; ++x) {
        out[x] = all[at(x)] > 0 && !is_missing(2, x) ? static_cast<C>(sum[at(x)] / all[at(x)]) : C{};
      }
    });
    return result;
  }

  // e of the coarse equations, Pᵀ A P 1: there is none where there is none and P 1 is 1 but for rounding.
  [[nodiscard]] Values excess() {
    Field ones = aligned_.zeros(), e = ones, u = fine_.zeros(), r = u;
    layout::for_each_point(aligned_.own(), [&](const layout::Point& point) { aligned_.value(ones, point) = 1; });
    aligned_.fill_ghosts(ones);
    interpolate(ones, u);
    constexpr C rounding = 64 * std::numeric_limits<C>::epsilon();
    for (C& value : u) value = std::abs(value - 1) <= rounding ? 1 : value;
    fine_.fill_ghosts(u);
    fine_.residual(u, fine_.zeros(), r);
    restrict(r, e);
    Values result = aligned_.template zeros<double>();
    std::ranges::transform(e, result.begin(), std::negate<>());
    return result;
  }

  // Of points that are not the same, Pᵀ A P.
  [[nodiscard]] PointEquations<double> product(const PointEquations<double>& equations) const {
    PointEquations<double> result;
    const Values diagonal = fine_.diagonal(equations);
    // Of columns. Round an axis of odd extent the first and the last coarse point are next to each other.
    const Index n = aligned_.row_length();
    const std::array<Index, 4> ends{0, 1, std::max<Index>(n - 1, 1), n};
    const Index stride = how_.halves[2] ? 2 : 1;
    for (std::size_t s = here + 1; s < steps; ++s) {
      const Step step = step_of(s);
      bool can_be = true;
      for (std::size_t a = 0; a < layout::axes; ++a) {
        can_be = can_be && (step[a] == 0 || aligned_.is_used()[a]);
      }
      if (can_be) result[s] = aligned_.template zeros<double>();
    }
    const auto add = [&](const layout::Point& first, Index count, const std::array<const Way*, layout::axes>& ways) {
      layout::Point fine{};
      Step coarse_step{}, from{}, to{}, fine_step{};
      for (std::size_t a = 0; a < layout::axes; ++a) {
        coarse_step[a] = ways[a]->coarse;
        from[a] = ways[a]->from;
        to[a] = ways[a]->to;
        fine_step[a] = ways[a]->fine;
        fine[a] = place(a, first[a]) + from[a];
      }
      const std::size_t s = number_of(coarse_step), way = number_of(fine_step);
      if (s <= here || !has(equations, way)) return;
      const Index offset = aligned_.offset_of(first);
      const C* const near = weights_[number_of(from)].data() + offset;
      const C* const far = weights_[number_of(to)].data() + offset + aligned_.distance(coarse_step);
      const Index from_fine = fine_.offset_of(fine);
      const double* const between =
          way == here ? diagonal.data() + from_fine : fine_.coefficients(equations, way, from_fine);
      double* const out = result[s].data() + offset;
      const auto add_all = [&](Index by) {
#pragma omp simd
        for (Index x = 0; x < count; ++x) out[x] += double{near[x]} * between[by * x] * double{far[x]};
      };
      stride == 1 ? add_all(1) : add_all(2);
    };
    layout::for_each_row(aligned_.own(), [&](const layout::Point& row) {
      const std::vector<Way> planes = ways(0, row[0]), rows = ways(1, row[1]);
      for (std::size_t run = 0; run + 1 < ends.size(); ++run) {
        if (ends[run] >= ends[run + 1]) continue;
        const std::vector<Way> columns = ways(2, ends[run]);
        for (const Way& zero : planes) {
          for (const Way& one : rows) {
            for (const Way& two : columns) {
              add({row[0], row[1], ends[run]}, ends[run + 1] - ends[run], {&zero, &one, &two});
            }
          }
        }
      }
    });
    return result;
  }

  Grid& fine_;
  layout::Coarsening how_;
  Grid aligned_;
  std::array<std::vector<Index>, layout::axes> places_;
  std::array<Field, steps> weights_;  // of coarse values at the fine points a step from them; empty: none
  // Where the coarse grid lies elsewhere.
  std::optional<halo::Exchange> down_, up_;
  Field moved_;
};

}  // namespace plait::poisson
