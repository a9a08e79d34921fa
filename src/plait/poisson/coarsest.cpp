#include "plait/poisson/coarsest.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "plait/poisson/problem.hpp"

namespace plait::poisson {

template <class C>
Coarsest<C>::Coarsest(ColouredGrid<C>& grid)
    : grid_(grid), n_(grid.own().is_empty() ? 0 : at(grid.partition().whole().points())) {
  find_matrix();
  if (n_ > 0) factorize();
}

template <class C>
template <class F>
void Coarsest<C>::for_each_point(const F& f) const {
  const layout::Box whole = grid_.partition().whole();
  std::size_t p = 0;
  for (Index i = 0; i < whole.high[0]; ++i) {
    for (Index j = 0; j < whole.high[1]; ++j) {
      for (Index x = 0; x < whole.high[2]; ++x) f(p++, i, j, x);
    }
  }
}

template <class C>
void Coarsest<C>::find_matrix() {
  a_.resize(n_ * n_);
  const Field none = grid_.zeros();
  const auto rows = grid_.range(1, 1), planes = grid_.range(0, 0);
  const Index plane = (rows.high - rows.low) * grid_.pitch();
  std::vector<C> residual(at(2 * plane + most_lanes));
  const auto all = at(grid_.partition().whole().points());
  for (std::size_t k = 0; k < all; ++k) {
    Field u = grid_.zeros();
    if (n_ > 0) {
      for_each_point([&](std::size_t p, Index i, Index j, Index x) {
        if (p == k) grid_.row(u, x & 1, i, j)[x >> 1] = 1;
      });
    }
    grid_.fill_ghosts(u, 1);
    for (Index i = planes.low; n_ > 0 && i < planes.high; ++i) {
      for (const auto colour : {ColouredGrid<C>::red, ColouredGrid<C>::black}) {
        grid_.residual(colour, i, u, none, residual.data(), residual.data() + plane);
      }
      for_each_point([&](std::size_t p, Index of_plane, Index j, Index x) {
        if (of_plane != i) return;
        a_[p * n_ + k] =
            -static_cast<double>(residual[at((x & 1) * plane + (j - rows.low) * grid_.pitch() + (x >> 1))]);
      });
    }
  }
}

template <class C>
void Coarsest<C>::factorize() {
  const Axes& axes = grid_.axes();
  if (is_singular(axes)) {
    std::vector<double> volumes;
    for_each_point([&](std::size_t, Index i, Index j, Index x) {
      volumes.push_back(axes[0].width(i) * axes[1].width(j) * axes[2].width(x));
    });
    double scale = 0, volume = 0;
    for (std::size_t i = 0; i < n_; ++i) scale = std::max(scale, a_[i * n_ + i]), volume += volumes[i];
    if (scale == 0) scale = 1;
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t k = 0; k < n_; ++k) a_[i * n_ + k] += scale * volumes[k] / volume;
    }
  }
  pivots_.resize(n_);
  for (std::size_t k = 0; k < n_; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k; i < n_; ++i) {
      if (std::abs(a_[i * n_ + k]) > std::abs(a_[pivot * n_ + k])) pivot = i;
    }
    pivots_[k] = pivot;
    for (std::size_t c = 0; c < n_; ++c) std::swap(a_[k * n_ + c], a_[pivot * n_ + c]);
    for (std::size_t i = k + 1; i < n_; ++i) {
      a_[i * n_ + k] /= a_[k * n_ + k];
      for (std::size_t c = k + 1; c < n_; ++c) a_[i * n_ + c] -= a_[i * n_ + k] * a_[k * n_ + c];
    }
  }
}

template <class C>
void Coarsest<C>::solve(const Field& b, Field& u) const {
  if (n_ == 0) return;
  std::vector<double> x(n_);
  for_each_point([&](std::size_t p, Index i, Index j, Index column) {
    x[p] = static_cast<double>(grid_.row(b, column & 1, i, j)[column >> 1]);
  });
  for (std::size_t k = 0; k < n_; ++k) std::swap(x[k], x[pivots_[k]]);
  for (std::size_t k = 0; k < n_; ++k) {
    for (std::size_t i = k + 1; i < n_; ++i) x[i] -= a_[i * n_ + k] * x[k];
  }
  for (std::size_t k = n_; k-- > 0;) {
    for (std::size_t c = k + 1; c < n_; ++c) x[k] -= a_[k * n_ + c] * x[c];
    x[k] /= a_[k * n_ + k];
  }
  for_each_point([&](std::size_t p, Index i, Index j, Index column) {
    grid_.row(u, column & 1, i, j)[column >> 1] = static_cast<C>(x[p]);
  });
}

template class Coarsest<float>;
template class Coarsest<double>;

}  // namespace plait::poisson
