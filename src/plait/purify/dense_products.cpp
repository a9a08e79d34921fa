#include "plait/purify/dense_products.hpp"

#include <algorithm>
#include <complex>

#include <fmt/format.h>

#include "plait/base/rounding.hpp"
#include "plait/base/stopwatch.hpp"
#include "plait/dense/symm/options.hpp"

namespace plait::purify {

Squares choose_squares(int ranks) noexcept {
  const int edge = dense::symm::Grid::largest_cube(ranks);
  return edge > 1 && 2 * edge * edge * edge > ranks ? Squares::cube : Squares::halves;
}

template <class T>
DenseProducts<T>::DenseProducts(mpi::Context& context, Index n, Squares squares)
    : context_(context), layout_(layout::Layout::columns({n, n}, context.size())) {
  if (squares == Squares::cube) {
    cube_.emplace(context, n);
    layout_ = cube_->layout();
  } else {
    halves_.emplace(context, n);
  }
}

template <class T>
dense::Multiplication<T>& DenseProducts<T>::multiplication() {
  if (!general_) general_.emplace(context_, dense::Factors{layout_, layout_}, layout_);
  return *general_;
}

template <class T>
template <class F>
void DenseProducts<T>::make(Index products, F&& f) {
  const Stopwatch watch;
  f();
  seconds_ += watch.seconds();
  count_ += products;
}

template <class T>
void DenseProducts<T>::square(const Matrix<T>& x, Matrix<T>& x2) {
  make(1, [&] { cube_ ? cube_->square(x, x2) : halves_->execute(x, x, x2); });
}

template <class T>
void DenseProducts<T>::square_cube(const Matrix<T>& x, Matrix<T>& x2, Matrix<T>& x3) {
  make(2, [&] {
    if (cube_) return cube_->square_cube(x, x2, x3);
    halves_->execute(x, x, x2);
    halves_->execute(x, x2, x3);
  });
}

template <class T>
void DenseProducts<T>::multiply(const Matrix<T>& a, const Matrix<T>& b, Matrix<T>& c) {
  auto& plan = multiplication();
  make(1, [&] { plan.execute(T{1}, a, b, T{0}, c); });
}

template <class T>
Index DenseProducts<T>::workspace_bytes() const {
  Index bytes = general_ ? general_->choice().workspace_bytes : 0;
  if (halves_) bytes += halves_->workspace_bytes();
  if (cube_ && cube_->mesh().contains(context_.rank())) {
    // It is taken when it is first needed: blocks of both factors, a part of a sum, and both results.
    const Index edge = cube_->mesh().edge();
    const Index side = quotient_up(layout_.shape().rows, edge);
    bytes += std::max(cube_->workspace_bytes(), 5 * side * side * Index{sizeof(T)});
  }
  return bytes;
}

template <class T>
std::string DenseProducts<T>::describe() const {
  if (halves_)
    return fmt::format("squares and cubes in halves on {} rank{}", context_.size(), context_.size() == 1 ? "" : "s");
  const dense::symm::Grid& mesh = cube_->mesh();
  return fmt::format("squares and cubes on {} x {} x {} ranks", mesh.edge(), mesh.edge(), mesh.layers);
}

template class DenseProducts<float>;
template class DenseProducts<double>;
template class DenseProducts<std::complex<float>>;
template class DenseProducts<std::complex<double>>;

}  // namespace plait::purify
