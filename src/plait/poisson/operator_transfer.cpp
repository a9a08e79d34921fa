#include "plait/poisson/operator_transfer.hpp"

#include <algorithm>
#include <utility>

namespace plait::poisson {

template <class T>
OperatorTransfer<T>::OperatorTransfer(mpi::Context& context, const Grid& fine, Grid& coarse,
                                      const layout::BoxPartition& aligned, const layout::Coarsening& how)
    : fine_(fine), how_(how), aligned_(context, aligned, fine.is_used(), fine.is_periodic()) {
  for (std::size_t a = 0; a < layout::axes; ++a) find_places(a);
  find_weights();
  std::array<Values<T>, steps> equations = product();
  if (coarse.partition() == aligned) {
    coarse.set_equations(std::move(equations));
    return;
  }
  moved_ = aligned_.zeros();
  const layout::Point ghosts = coarse.ghost_layers();
  const auto move = [&](const layout::BoxPartition& from, const layout::BoxPartition& to, const layout::Point& width) {
    return halo::Filling{from, to, ghosts, ghosts, width, fine.is_periodic()};
  };
  down_.emplace(context, move(aligned, coarse.partition(), {}), Index{sizeof(T)}, 1, "coarse grid");
  up_.emplace(context, move(coarse.partition(), aligned, coarse.ghost_layers(1)), Index{sizeof(T)}, 1, "coarse grid");
  for (Values<T>& values : equations) {
    if (values.empty()) continue;
    Values<T> there = coarse.zeros();
    const halo::Field field{values.data(), there.data()};
    (*down_)(std::span(&field, 1));
    values = std::move(there);
  }
  coarse.set_equations(std::move(equations));
}

// Of coarse points, also those one beyond periodic sides.
template <class T>
void OperatorTransfer<T>::find_places(std::size_t axis) {
  const Index n = aligned_.partition().whole().high[axis], extent = fine_.partition().whole().high[axis];
  for (Index coarse = aligned_.own().low[axis] - 1; coarse <= aligned_.own().high[axis]; ++coarse) {
    const Index turns = fine_.is_periodic()[axis] ? (coarse < 0 ? -1 : coarse >= n ? 1 : 0) : 0;
    places_[axis].push_back(!how_.halves[axis] ? coarse : 2 * (coarse - turns * n) + how_.first[axis] + turns * extent);
  }
}

// Whether there is a fine point a step away, and it is no coarse one.
template <class T>
bool OperatorTransfer<T>::is_between(std::size_t axis, Index coarse, Index step) const {
  const Index fine = place(axis, coarse) + step;
  if (fine_.is_periodic()[axis]) return fine != place(axis, coarse + step);
  return fine >= 0 && fine < fine_.partition().whole().high[axis];
}

template <class T>
auto OperatorTransfer<T>::runs(std::size_t axis) const -> std::vector<Run> {
  const Index low = aligned_.own().low[axis], high = aligned_.own().high[axis];
  const Index n = aligned_.partition().whole().high[axis];
  std::vector<Run> runs;
  const auto add = [&](Index begin, Index end) {
    begin = std::max(begin, low);
    end = std::min(end, high);
    if (begin >= end) return;
    Run& run = runs.emplace_back(Run{begin, end, {}});
    const Index reach = how_.halves[axis] ? 1 : 0, around = fine_.is_used()[axis] ? 1 : 0;
    for (Index coarse = -around; coarse <= around; ++coarse) {
      for (Index from = -reach; from <= reach; ++from) {
        for (Index to = -reach; to <= reach; ++to) {
          const Index fine = place(axis, begin + coarse) + to - place(axis, begin) - from;
          if (fine >= -1 && fine <= 1) run.ways.push_back({coarse, from, to, fine});
        }
      }
    }
  };
  // Round an axis of odd extent the first and the last coarse point are next to each other.
  add(0, 1);
  add(1, std::max<Index>(n - 1, 1));
  add(std::max<Index>(n - 1, 1), n);
  return runs;
}

template <class T>
void OperatorTransfer<T>::find_weights() {
  for (std::size_t count = 0; count <= layout::axes; ++count) {
    for (std::size_t s = 0; s < steps; ++s) {
      const auto step = Grid::step(s);
      std::size_t moves = 0;
      bool can_be = true;
      for (std::size_t a = 0; a < layout::axes; ++a) {
        moves += step[a] != 0 ? 1U : 0U;
        can_be = can_be && (step[a] == 0 || how_.halves[a]);
      }
      if (moves == count && can_be) weights_[s] = weights(s);
    }
  }
  for (Values<T>& values : weights_) {
    if (!values.empty()) aligned_.fill_ghosts(values);
  }
}

// By the equations of the fine points that are this step from coarse ones. What is across is taken to be alike; what is
// nearer to the coarse point has its weight already.
template <class T>
Values<T> OperatorTransfer<T>::weights(std::size_t number) const {
  const auto step = Grid::step(number);
  Values<T> result = aligned_.zeros();
  struct Part {
    std::size_t step;
    bool is_own;      // counts as the point itself
    const T* weight;  // of the coarse point there; null: it has none
  };
  std::vector<Part> parts;
  for (std::size_t s = 0; s < steps; ++s) {
    if (!fine_.has(s)) continue;
    const auto to = Grid::step(s);
    auto nearer = step;
    bool is_own = true, comes_nearer = true;
    for (std::size_t a = 0; a < layout::axes; ++a) {
      if (step[a] == 0 || to[a] == 0) continue;
      is_own = false;
      comes_nearer = comes_nearer && to[a] == -step[a];
      nearer[a] = 0;
    }
    parts.push_back({s, is_own, is_own || !comes_nearer ? nullptr : weights_[Grid::number(nearer)].data()});
  }
  const Index n = aligned_.row_length(), stride = how_.halves[2] ? 2 : 1;
  std::vector<double> own(at(n)), others(at(n)), sum(at(n));
  aligned_.for_each_row([&](Index offset, Index i, Index j) {
    const auto is_missing = [&](std::size_t a, Index coarse) {
      return step[a] != 0 && !is_between(a, coarse, step[a]);
    };
    if (is_missing(0, i) || is_missing(1, j)) return;
    T* const out = result.data() + offset;
    if (number == Grid::here) {
      std::fill_n(out, n, T{1});
      return;
    }
    for (std::vector<double>* values : {&own, &others, &sum}) std::ranges::fill(*values, 0);
    const Index fine = fine_.offset_of({place(0, i), place(1, j), place(2, 0)}) + fine_.distance(step);
    for (const Part& part : parts) {
      const T *const c = fine_.coefficients(part.step, fine), *const weight = part.weight + (part.weight ? offset : 0);
      double* const all = part.is_own ? own.data() : others.data();
      for (Index x = 0; x < n; ++x) all[x] += static_cast<double>(c[stride * x]);
      for (Index x = 0; part.weight != nullptr && x < n; ++x) {
        sum[at(x)] -= static_cast<double>(c[stride * x]) * static_cast<double>(weight[x]);
      }
    }
    for (Index x = 0; x < n; ++x) {
      // What rounding leaves of a difference is less than what it has to be at least.
      const double all = std::max(own[at(x)], -others[at(x)]);
      out[x] = all > 0 && !is_missing(2, x) ? static_cast<T>(sum[at(x)] / all) : T{};
    }
  });
  return result;
}

template <class T>
auto OperatorTransfer<T>::product() const -> std::array<Values<T>, steps> {
  std::array<Values<T>, steps> result;
  const std::array all{runs(0), runs(1), runs(2)};
  const Index stride = how_.halves[2] ? 2 : 1;
  for (std::size_t s = Grid::here; s < steps; ++s) {
    const auto step = Grid::step(s);
    bool can_be = true;
    for (std::size_t a = 0; a < layout::axes; ++a) {
      can_be = can_be && (step[a] == 0 || aligned_.is_used()[a]);
    }
    if (can_be) result[s] = aligned_.zeros();
  }
  const auto add = [&](const layout::Point& first, Index count, const std::array<const Way*, layout::axes>& ways) {
    layout::Point fine{};
    typename Grid::Step coarse_step{}, from{}, to{}, fine_step{};
    for (std::size_t a = 0; a < layout::axes; ++a) {
      coarse_step[a] = ways[a]->coarse;
      from[a] = ways[a]->from;
      to[a] = ways[a]->to;
      fine_step[a] = ways[a]->fine;
      fine[a] = place(a, first[a]) + from[a];
    }
    const std::size_t s = Grid::number(coarse_step), way = Grid::number(fine_step);
    if (s < Grid::here || !fine_.has(way)) return;
    const Index offset = aligned_.offset_of(first);
    const T* const near = weights_[Grid::number(from)].data() + offset;
    const T* const far = weights_[Grid::number(to)].data() + offset + aligned_.distance(coarse_step);
    const T* const between = fine_.coefficients(way, fine_.offset_of(fine));
    T* const out = result[s].data() + offset;
    if (stride == 1) {
      for (Index x = 0; x < count; ++x) out[x] += near[x] * between[x] * far[x];
    } else {
#pragma omp simd
      for (Index x = 0; x < count; ++x) out[x] += near[x] * between[2 * x] * far[x];
    }
  };
  for (const Run& planes : all[0]) {
    for (const Run& rows : all[1]) {
      for (Index i = planes.begin; i < planes.end; ++i) {
        for (Index j = rows.begin; j < rows.end; ++j) {
          for (const Run& columns : all[2]) {
            for (const Way& zero : planes.ways) {
              for (const Way& one : rows.ways) {
                for (const Way& two : columns.ways) {
                  add({i, j, columns.begin}, columns.end - columns.begin, {&zero, &one, &two});
                }
              }
            }
          }
        }
      }
    }
  }
  return result;
}

template <class T>
void OperatorTransfer<T>::restrict(const Values<T>& r, Values<T>& b) {
  Values<T>& to = down_ ? moved_ : b;
  const Index stride = how_.halves[2] ? 2 : 1;
  aligned_.for_each_row([&](Index offset, Index i, Index j) {
    const layout::Point fine{place(0, i), place(1, j), place(2, aligned_.own().low[2])};
    const Index from = fine_.offset_of(fine);
    T* const out = to.data() + offset;
    std::fill_n(out, aligned_.row_length(), T{});
    for (std::size_t s = 0; s < steps; ++s) {
      if (weights_[s].empty()) continue;
      const T *const weight = weights_[s].data() + offset, *const in = r.data() + from + fine_.distance(Grid::step(s));
      for (Index x = 0; x < aligned_.row_length(); ++x) out[x] += weight[x] * in[stride * x];
    }
  });
  if (!down_) return;
  const halo::Field field{moved_.data(), b.data()};
  (*down_)(std::span(&field, 1));
}

template <class T>
void OperatorTransfer<T>::interpolate(const Values<T>& e, Values<T>& u) {
  if (up_) {
    const halo::Field field{e.data(), moved_.data()};
    (*up_)(std::span(&field, 1));
  }
  const Values<T>& from = up_ ? moved_ : e;
  const layout::Box& own = fine_.own();
  const Index stride = how_.halves[2] ? 2 : 1, reach = how_.halves[2] ? 1 : 0, columns = aligned_.row_length();
  const layout::Box coarse = aligned_.own().grown(aligned_.ghost_layers(1));
  for (Index i = coarse.low[0]; i < coarse.high[0]; ++i) {
    for (Index j = coarse.low[1]; j < coarse.high[1]; ++j) {
      for (std::size_t s = 0; s < steps; ++s) {
        if (weights_[s].empty()) continue;
        const auto step = Grid::step(s);
        const Index to_i = place(0, i) + step[0], to_j = place(1, j) + step[1];
        if (to_i < own.low[0] || to_i >= own.high[0] || to_j < own.low[1] || to_j >= own.high[1]) continue;
        const Index first = stride * -reach + how_.first[2] * reach + step[2];  // where the coarse ghost before 0 is
        const Index offset = aligned_.offset_of({i, j, -reach}), to = fine_.offset_of({to_i, to_j, 0}) + first;
        const T *const weight = weights_[s].data() + offset, *const in = from.data() + offset;
        T* const out = u.data() + to;
        for (Index x = 0; x < columns + 2 * reach; ++x) {
          const Index at_column = first + stride * x;
          if (at_column >= 0 && at_column < fine_.row_length()) out[stride * x] += weight[x] * in[x];
        }
      }
    }
  }
}

template class OperatorTransfer<float>;
template class OperatorTransfer<double>;

}  // namespace plait::poisson
