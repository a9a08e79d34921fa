#include "plait/poisson/level.hpp"

#include <algorithm>
#include <utility>

namespace plait::poisson {

namespace {

layout::Point layers_of(const Axes& axes) {
  layout::Point layers{};
  for (std::size_t a = 0; a < layout::axes; ++a) layers[a] = axes[a].is_used() || a == 2 ? 1 : 0;
  return layers;
}

halo::Filling ghosts(const Axes& axes, const layout::BoxPartition& partition, halo::Reach reach) {
  return halo::Filling::ghosts(partition, layers_of(axes),
                               {axes[0].is_periodic(), axes[1].is_periodic(), axes[2].is_periodic()}, reach);
}

}  // namespace

// A row of points with all that their equations take: u here and next to it, and what it is multiplied by.
template <class T>
struct Level<T>::Row {
  const T *u, *below0, *above0, *below1, *above1, *b;
  // k = 1
  const T *below2, *above2, *both2;
  T weight_below0, weight_above0, weight_below1, weight_above1, others;
  // k varies
  const T *c0, *c0_above, *c1, *c1_above, *c2, *inverse2;
  T inverse0, inverse1;

  [[nodiscard]] T residual(Index x) const {
    const T ones = (both2[x] + others) * u[x] - (below2[x] * u[x - 1] + above2[x] * u[x + 1]);
    return b[x] - (ones - (weight_below1 * below1[x] + weight_above1 * above1[x]) -
                   (weight_below0 * below0[x] + weight_above0 * above0[x]));
  }
  [[nodiscard]] T residual_where_k_varies(Index x) const {
    const T own = u[x];
    const T flow2 = c2[x] * (own - u[x - 1]) + c2[x + 1] * (own - u[x + 1]);
    const T flow1 = c1[x] * (own - below1[x]) + c1_above[x] * (own - above1[x]);
    const T flow0 = c0[x] * (own - below0[x]) + c0_above[x] * (own - above0[x]);
    return b[x] - (inverse2[x] * flow2 + inverse1 * flow1 + inverse0 * flow0);
  }
  [[nodiscard]] T diagonal_where_k_varies(Index x) const {
    return inverse2[x] * (c2[x] + c2[x + 1]) + inverse1 * (c1[x] + c1_above[x]) + inverse0 * (c0[x] + c0_above[x]);
  }
};

template <class T>
Level<T>::Level(mpi::Context& context, const Axes& axes, layout::BoxPartition partition)
    : axes_(axes),
      partition_(std::move(partition)),
      layers_(layers_of(axes)),
      own_(partition_.box(context.rank())),
      memory_(own_.grown(layers_)),
      plane_(layers_[0] > 0 ? memory_.extent(1) * memory_.extent(2) : 0),
      pitch_(layers_[1] > 0 ? memory_.extent(2) : 0),
      faces_(context, ghosts(axes, partition_, halo::Reach::faces), Index{sizeof(T)}),
      corners_(context, ghosts(axes, partition_, halo::Reach::corners), Index{sizeof(T)}) {
  for (std::size_t a = 0; a < layout::axes; ++a) {
    for (Index i = own_.low[a]; i < own_.high[a]; ++i) {
      const auto weight = [&](Index face) {
        const double distance = axes[a].distance_below(face);
        return distance > 0 && axes[a].is_used() ? static_cast<T>(1 / (distance * axes[a].width(i))) : T{};
      };
      weights_[a].below.push_back(weight(i));
      weights_[a].above.push_back(weight(i + 1));
      weights_[a].both.push_back(weight(i) + weight(i + 1));
      inverse_widths_[a].push_back(static_cast<T>(1 / axes[a].width(i)));
    }
  }
  added_.resize(at(row_length()));
  for (Index x = 0; x < row_length(); ++x) {
    masks_[0].push_back(static_cast<T>(1 - x % 2));
    masks_[1].push_back(static_cast<T>(x % 2));
  }
}

template <class T>
void Level<T>::set_coefficient(Values<T> k) {
  exchange(k);
  k_ = std::move(k);
  for (Values<T>& values : conductances_) values = zeros();
  for (int axis = 0; axis < layout::axes; ++axis) {
    if (!axes_[at(axis)].is_used()) continue;
    layout::Box faces = own_;
    if (!own_.is_empty()) ++faces.high[at(axis)];
    for (Index i = faces.low[0]; i < faces.high[0]; ++i) {
      for (Index j = faces.low[1]; j < faces.high[1]; ++j) {
        for (Index x = faces.low[2]; x < faces.high[2]; ++x) {
          conductances_[at(axis)][at(offset_of({i, j, x}))] = static_cast<T>(conductance(axis, {i, j, x}));
        }
      }
    }
  }
  inverse_diagonal_ = zeros();
  for_each_row([&](Index offset, Index i, Index j) {
    const Row line = row(k_->data(), k_->data(), offset, i, j);
    for (Index x = 0; x < row_length(); ++x) {
      const T diagonal = line.diagonal_where_k_varies(x);
      inverse_diagonal_[at(offset + x)] = diagonal > 0 ? 1 / diagonal : T{};
    }
  });
}

template <class T>
double Level<T>::conductance(int axis, const layout::Point& point) const {
  const Axis& along = axes_[at(axis)];
  const auto [below, above] = along.shares_below(point[at(axis)]);
  if (!along.is_used() || below + above == 0) return 0;
  if (!k_) return 1 / (below + above);
  const Index step = axis == 0 ? plane_ : axis == 1 ? pitch_ : 1;
  const Index offset = offset_of(point);
  const auto resistance = [&](double share, Index from) {
    return share == 0 ? 0 : share / static_cast<double>((*k_)[at(from)]);
  };
  return 1 / (resistance(below, offset - step) + resistance(above, offset));
}

template <class T>
void Level<T>::exchange(Values<T>& values, halo::Reach reach) {
  (reach == halo::Reach::faces ? faces_ : corners_)(values.data());
}

template <class T>
auto Level<T>::row(const T* u, const T* b, Index offset, Index i, Index j) const -> Row {
  const std::size_t p = at(i - own_.low[0]), q = at(j - own_.low[1]);
  Row row{};
  row.u = u + offset;
  row.below0 = row.u - plane_;
  row.above0 = row.u + plane_;
  row.below1 = row.u - pitch_;
  row.above1 = row.u + pitch_;
  row.b = b + offset;
  row.below2 = weights_[2].below.data();
  row.above2 = weights_[2].above.data();
  row.both2 = weights_[2].both.data();
  row.weight_below0 = weights_[0].below[p];
  row.weight_above0 = weights_[0].above[p];
  row.weight_below1 = weights_[1].below[q];
  row.weight_above1 = weights_[1].above[q];
  row.others = weights_[0].both[p] + weights_[1].both[q];
  if (k_) {
    row.c0 = conductances_[0].data() + offset;
    row.c0_above = row.c0 + plane_;
    row.c1 = conductances_[1].data() + offset;
    row.c1_above = row.c1 + pitch_;
    row.c2 = conductances_[2].data() + offset;
    row.inverse0 = inverse_widths_[0][p];
    row.inverse1 = inverse_widths_[1][q];
    row.inverse2 = inverse_widths_[2].data();
  }
  return row;
}

template <class T>
auto Level<T>::scaled_row(T others, T omega) -> const ScaledRow& {
  for (const ScaledRow& row : scaled_rows_) {
    if (row.others == others && row.omega == omega) return row;
  }
  ScaledRow& row = scaled_rows_.emplace_back(ScaledRow{others, omega, masks_});
  for (std::vector<T>& scaled : row.by_colour) {
    for (std::size_t x = 0; x < scaled.size(); ++x) {
      const T diagonal = weights_[2].both[x] + others;
      scaled[x] = diagonal > 0 ? scaled[x] * (omega / diagonal) : T{};
    }
  }
  return row;
}

// All points of a row are computed, and those of the other colour multiplied by 0, so that rows are contiguous; what is
// added lies apart first, since a processor waits where vectors are read that overlap one just written.
template <class T>
void Level<T>::relax(Colour colour, T omega, Values<T>& u, const Values<T>& b) {
  const Index length = row_length();
  T* const __restrict added = added_.data();
  for_each_row([&](Index offset, Index i, Index j) {
    const auto first = static_cast<std::size_t>((i + j + own_.low[2] + (colour == Colour::black ? 1 : 0)) % 2);
    const Row line = row(u.data(), b.data(), offset, i, j);
    T* const out = u.data() + offset;
    if (k_) {
      const T *const mask = masks_[first].data(), *const inverse = inverse_diagonal_.data() + offset;
#pragma omp simd
      for (Index x = 0; x < length; ++x) added[x] = mask[x] * (omega * inverse[x]) * line.residual_where_k_varies(x);
    } else {
      const T* const scaled = scaled_row(line.others, omega).by_colour[first].data();
#pragma omp simd
      for (Index x = 0; x < length; ++x) added[x] = scaled[x] * line.residual(x);
    }
#pragma omp simd
    for (Index x = 0; x < length; ++x) out[x] += added[x];
  });
}

template <class T>
void Level<T>::sweep(T omega, Values<T>& u, const Values<T>& b) {
  for (const Colour colour : {Colour::red, Colour::black}) {
    exchange(u);
    relax(colour, omega, u, b);
  }
}

template <class T>
void Level<T>::residual(const Values<T>& u, const Values<T>& b, Values<T>& r) const {
  const Index length = row_length();
  for_each_row([&](Index offset, Index i, Index j) {
    const Row line = row(u.data(), b.data(), offset, i, j);
    T* const out = r.data() + offset;
    if (k_) {
#pragma omp simd
      for (Index x = 0; x < length; ++x) out[x] = line.residual_where_k_varies(x);
    } else {
#pragma omp simd
      for (Index x = 0; x < length; ++x) out[x] = line.residual(x);
    }
  });
}

template <class T>
void Level<T>::add_scaled_residual(T omega, const Values<T>& r, Values<T>& u) const {
  const Index length = row_length();
  for_each_row([&](Index offset, Index i, Index j) {
    const Row line = row(r.data(), r.data(), offset, i, j);
    T* const out = u.data() + offset;
    for (Index x = 0; x < length; ++x) {
      const T diagonal = line.both2[x] + line.others;
      const T inverse = k_ ? inverse_diagonal_[at(offset + x)] : diagonal > 0 ? 1 / diagonal : T{};
      out[x] += omega * inverse * r[at(offset + x)];
    }
  });
}

template <class T>
void Level<T>::copy_in(std::span<const T> compact, Values<T>& values) const {
  auto from = compact.begin();
  for_each_row([&](Index offset, Index, Index) {
    std::copy_n(from, row_length(), values.begin() + offset);
    from += row_length();
  });
}

template <class T>
void Level<T>::copy_out(const Values<T>& values, std::span<T> compact) const {
  auto to = compact.begin();
  for_each_row([&](Index offset, Index, Index) { to = std::copy_n(values.begin() + offset, row_length(), to); });
}

template class Level<float>;
template class Level<double>;

}  // namespace plait::poisson
