#include "plait/poisson/level.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

#include "plait/base/memory.hpp"

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

void* allocate_values(std::size_t bytes) {
  const bool is_large = bytes >= 2 * Buffer::huge_page_bytes;
  const std::size_t unit = is_large ? Buffer::huge_page_bytes : Buffer::alignment;
  const std::size_t rounded = (bytes + unit - 1) / unit * unit;
  void* const memory = std::aligned_alloc(unit, rounded);
  if (memory == nullptr) throw std::bad_alloc();
  if (is_large) ::madvise(memory, rounded, MADV_HUGEPAGE);  // only advice: where it fails, ordinary pages serve
  return memory;
}

void free_values(void* memory) noexcept { std::free(memory); }

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
      corners_(context, ghosts(axes, partition_, halo::Reach::corners), Index{sizeof(T)}),
      kernels_(stencil_kernels<T>(layers_[0] > 0 ? 2 : 1, false)) {
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
  for (std::vector<T>* weights : {&weights_[2].below, &weights_[2].above, &weights_[2].both, &inverse_widths_[2]}) {
    weights->resize(weights->size() + slack);
  }
  added_.resize(at(row_length()) + slack);
  for (Index x = 0; x < row_length(); ++x) {
    masks_[0].push_back(static_cast<T>(1 - x % 2));
    masks_[1].push_back(static_cast<T>(x % 2));
  }
}

// Rows ascend, so that what a kernel writes beyond one is written again.
template <class T>
void Level<T>::set_coefficient(Values<T> k, Values<T> inside, bool is_given) {
  exchange(k);
  if (!inside.empty()) {
    exchange(inside);
    if (!is_given) std::ranges::transform(k, inside, k.begin(), [](T a, T b) { return b > 0 ? a : T{}; });
  }
  k_ = std::move(k);
  inside_ = std::move(inside);
  is_outside_given_ = is_given;
  const auto kernel = transfer_kernels<T>().conductance;
  for (std::size_t a = 0; a < layout::axes; ++a) {
    if (!axes_[a].is_used() && a == 0) continue;
    conductances_[a] = zeros();
    if (!axes_[a].is_used() || own_.is_empty()) continue;
    layout::Box faces = own_;
    ++faces.high[a];
    const Index count = faces.extent(2);
    std::array<std::vector<T>, 2> shares;
    for (Index x = faces.low[2]; x < faces.high[2]; ++x) {
      const auto [below, above] = a == 2 ? axes_[a].shares_below(x) : std::array{1., 1.};
      shares[0].push_back(static_cast<T>(below));
      shares[1].push_back(static_cast<T>(above));
    }
    for (std::vector<T>& values : shares) values.resize(at(count) + slack);
    const Index step = a == 0 ? plane_ : a == 1 ? pitch_ : 1;
    for (Index i = faces.low[0]; i < faces.high[0]; ++i) {
      for (Index j = faces.low[1]; j < faces.high[1]; ++j) {
        const auto [below, above] = a == 2 ? std::array{1., 1.} : axes_[a].shares_below(a == 0 ? i : j);
        const Index offset = offset_of({i, j, faces.low[2]});
        kernel(k_->data() + offset - step, k_->data() + offset, {shares[0].data(), shares[1].data()},
               {static_cast<T>(below), static_cast<T>(above)}, count, conductances_[a].data() + offset);
      }
    }
  }
  kernels_ = stencil_kernels<T>(layers_[0] > 0 ? 2 : 1, true);
  inverse_diagonal_.clear();
}

template <class T>
const Values<T>& Level<T>::inverse_diagonal() {
  if (!inverse_diagonal_.empty()) return inverse_diagonal_;
  inverse_diagonal_ = zeros();
  const auto& [c0, c1, c2] = conductances_;
  for_each_row([&](Index offset, Index i, Index j) {
    const T inverse0 = inverse_widths_[0][at(i - own_.low[0])], inverse1 = inverse_widths_[1][at(j - own_.low[1])];
    for (Index x = 0; x < row_length(); ++x) {
      const std::size_t p = at(offset + x);
      T diagonal = inverse_widths_[2][at(x)] * (c2[p] + c2[p + 1]) + inverse1 * (c1[p] + c1[p + at(pitch_)]);
      if (layers_[0] > 0) diagonal += inverse0 * (c0[p] + c0[p + at(plane_)]);
      inverse_diagonal_[p] = diagonal > 0 ? 1 / diagonal : T{};
    }
  });
  return inverse_diagonal_;
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
T Level<T>::others(Index i, Index j) const {
  return weights_[0].both[at(i - own_.low[0])] + weights_[1].both[at(j - own_.low[1])];
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

// All points of a row are computed, and those of the other colour multiplied by 0, so that rows are contiguous.
template <class T>
void Level<T>::relax(Colour colour, T omega, Values<T>& u, const Values<T>& b) {
  const Index length = row_length();
  const T* const inverses = k_ ? inverse_diagonal().data() : nullptr;
  for_each_row([&](Index offset, Index i, Index j) {
    const auto first = static_cast<std::size_t>((i + j + own_.low[2] + (colour == Colour::black ? 1 : 0)) % 2);
    residual(u, b, {i, j, own_.low[2]}, length, added_.data());
    T* const out = u.data() + offset;
    if (k_) {
      const T *const mask = masks_[first].data(), *const inverse = inverses + offset;
#pragma omp simd
      for (Index x = 0; x < length; ++x) out[x] += mask[x] * (omega * inverse[x]) * added_[at(x)];
    } else {
      const T* const scaled = scaled_row(others(i, j), omega).by_colour[first].data();
#pragma omp simd
      for (Index x = 0; x < length; ++x) out[x] += scaled[x] * added_[at(x)];
    }
  });
}

template <class T>
void Level<T>::sweep(T omega, Values<T>& u, const Values<T>& b) {
  for (const Colour colour : {Colour::red, Colour::black}) {
    exchange(u);
    relax(colour, omega, u, b);
  }
}

// Rows ascend, so that what is written beyond one is written again.
template <class T>
void Level<T>::residual(const Values<T>& u, const Values<T>& b, Values<T>& r) const {
  for_each_row(
      [&](Index offset, Index i, Index j) { residual(u, b, {i, j, own_.low[2]}, row_length(), r.data() + offset); });
}

// Axis 1 comes first, as only grids of three dimensions have axis 0.
template <class T>
void Level<T>::residual(const Values<T>& u, const Values<T>& b, const layout::Point& first, Index count, T* r) const {
  const std::size_t p = at(first[0] - own_.low[0]), q = at(first[1] - own_.low[1]);
  const Index x = first[2] - own_.low[2], offset = offset_of(first);
  const T* const own = u.data() + offset;
  RowStencil<T> row{};
  row.u = own;
  row.b = b.data() + offset;
  row.left = own - 1;
  row.right = own + 1;
  row.below = {own - pitch_, own - plane_};
  row.above = {own + pitch_, own + plane_};
  if (k_) {
    const auto& [c0, c1, c2] = conductances_;
    row.c_left = c2.data() + offset;
    row.c_right = row.c_left + 1;
    row.c_below = {c1.data() + offset, c0.empty() ? c1.data() + offset : c0.data() + offset};
    row.c_above = {row.c_below[0] + pitch_, row.c_below[1] + plane_};
    row.inverse_width = inverse_widths_[2].data() + x;
    row.inverse_widths = {inverse_widths_[1][q], inverse_widths_[0][p]};
  } else {
    row.weight_left = weights_[2].below.data() + x;
    row.weight_right = weights_[2].above.data() + x;
    row.weight_below = {weights_[1].below[q], weights_[0].below[p]};
    row.weight_above = {weights_[1].above[q], weights_[0].above[p]};
  }
  kernels_.residual(row, count, r);
  if (inside_.empty()) return;
  const T* const inside = inside_.data() + offset;
  for (Index i = 0; i < count; ++i) r[i] *= inside[i];
}

template <class T>
void Level<T>::add_scaled_residual(T omega, const Values<T>& r, Values<T>& u) {
  const T* const inverses = k_ ? inverse_diagonal().data() : nullptr;
  for_each_row([&](Index offset, Index i, Index j) {
    T* const out = u.data() + offset;
    for (Index x = 0; x < row_length(); ++x) {
      const T diagonal = weights_[2].both[at(x)] + others(i, j);
      const T inverse = k_ ? inverses[offset + x] : diagonal > 0 ? 1 / diagonal : T{};
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
