#include "plait/poisson/point_grid.hpp"

#include <algorithm>
#include <utility>

#include "plait/base/contract.hpp"

namespace plait::poisson {

namespace {

layout::Point on_used(const std::array<bool, layout::axes>& is_used, Index width) {
  return {is_used[0] ? width : 0, is_used[1] ? width : 0, width};
}

halo::Filling ghosts_of(const layout::BoxPartition& partition, const std::array<bool, layout::axes>& is_used,
                        const std::array<bool, layout::axes>& is_periodic, Index layers, Index width) {
  const layout::Point all = on_used(is_used, layers);
  return {partition, partition, all, all, on_used(is_used, width), is_periodic, halo::Reach::corners, true};
}

}  // namespace

template <class T>
PointGrid<T>::PointGrid(mpi::Context& context, layout::BoxPartition partition, std::array<bool, layout::axes> is_used,
                        std::array<bool, layout::axes> is_periodic)
    : partition_(std::move(partition)),
      own_(partition_.box(context.rank())),
      is_used_(is_used),
      is_periodic_(is_periodic),
      ghosts_(on_used(is_used, layers)),
      memory_(own_.grown(ghosts_)),
      row_(at(own_.extent(2) + most_lanes)),
      kernel_(transfer_kernels<T>().residual),
      one_(context, ghosts_of(partition_, is_used, is_periodic, layers, 1), Index{sizeof(T)}, 1, "grid"),
      both_(context, ghosts_of(partition_, is_used, is_periodic, layers, layers), Index{sizeof(T)}, 1, "grid") {
  PLAIT_ASSERT(partition_.parts()[2] == 1, "no rank cuts the last axis");
}

template <class T>
layout::Point PointGrid<T>::ghost_layers(Index width) const {
  return on_used(is_used_, width);
}

template <class T>
void PointGrid<T>::fill_ghosts(Values<T>& field, Index width) {
  (width == 1 ? one_ : both_)(field.data());
}

template <class T>
void PointGrid<T>::set_equations(std::array<Values<T>, steps> coefficients) {
  a_ = std::move(coefficients);
  for (std::size_t s = here; s < steps; ++s) {
    if (!a_[s].empty()) fill_ghosts(a_[s], layers);
  }
  inverse_ = zeros();
  std::ranges::transform(a_[here], inverse_.begin(), [](T diagonal) { return diagonal > 0 ? 1 / diagonal : T{}; });
}

template <class T>
PointRow<T> PointGrid<T>::row(const Values<T>& u, const Values<T>& b, Index offset) const {
  PointRow<T> row;
  row.b = b.data() + offset;
  for (std::size_t s = 0; s < steps; ++s) {
    if (has(s)) row.add(coefficients(s, offset), u.data() + offset + distance(step(s)));
  }
  return row;
}

template <class T>
void PointGrid<T>::relax_row(bool is_forward, Values<T>& u, const Values<T>& b, Index offset) {
  const Index n = row_length();
  T* const at_row = u.data() + offset;
  const T* const inverse = inverse_.data() + offset;
  const PointRow<T> equations = row(u, b, offset);
  for (const Index half : {is_forward ? Index{0} : Index{1}, is_forward ? Index{1} : Index{0}}) {
    kernel_(equations, n, row_.data());
    for (Index x = half; x < n; x += 2) at_row[x] += inverse[x] * row_[at(x)];
    if (!is_periodic_[2]) continue;
    at_row[-1] = at_row[n - 1];
    at_row[n] = at_row[0];
  }
}

template <class T>
void PointGrid<T>::sweep(bool is_forward, Values<T>& u, const Values<T>& b) {
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

template <class T>
void PointGrid<T>::residual(const Values<T>& u, const Values<T>& b, Values<T>& r) {
  for_each_row([&](Index offset, Index, Index) {
    kernel_(row(u, b, offset), row_length(), row_.data());
    std::copy_n(row_.begin(), row_length(), r.begin() + offset);
  });
  fill_ghosts(r);
}

template class PointGrid<float>;
template class PointGrid<double>;

}  // namespace plait::poisson
