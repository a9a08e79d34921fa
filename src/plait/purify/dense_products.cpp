#include "plait/purify/dense_products.hpp"

#include <algorithm>
#include <complex>

#include <fmt/format.h>

#include "plait/base/rounding.hpp"
#include "plait/base/stopwatch.hpp"
#include "plait/dense/symm/symm_grid.hpp"

namespace plait::purify {

namespace {

/// Blocks on a grid that is as square as it can be on all ranks.
layout::Layout blocks(Index n, int ranks) {
  int rows = 1;
  for (int r = 2; r <= ranks / r; ++r) {
    if (ranks % r == 0) rows = r;
  }
  return layout::Layout::blocks({n, n}, rows, ranks / rows);
}

}  // namespace

Squares choose_squares(int ranks) noexcept {
  const int edge = dense::SymmGrid::largest_cube(ranks);
  return 2 * edge * edge * edge > ranks ? Squares::symmetric : Squares::general;
}

template <class T>
DenseProducts<T>::DenseProducts(mpi::Context& context, Index n, Squares squares)
    : context_(context), layout_(blocks(n, context.size())) {
  if (squares == Squares::symmetric) {
    symmetric_.emplace(context, n);
    layout_ = symmetric_->layout();
  } else {
    // Matrices stay where the products are computed, so that least moves to and fro.
    layout_ = multiplication().choice().arrangement.c_layout();
    general_.reset();
    static_cast<void>(multiplication());
  }
}

template <class T>
dense::Multiplication<T>& DenseProducts<T>::multiplication() {
  if (!general_) general_.emplace(context_, dense::Factors{layout_, layout_}, layout_);
  return *general_;
}

template <class T>
void DenseProducts<T>::square(const Matrix<T>& x, Matrix<T>& x2) {
  if (!symmetric_) return multiply(x, x, x2);
  const Stopwatch watch;
  symmetric_->square(x, x2);
  seconds_ += watch.seconds();
}

template <class T>
void DenseProducts<T>::square_cube(const Matrix<T>& x, Matrix<T>& x2, Matrix<T>& x3) {
  if (!symmetric_) {
    multiply(x, x, x2);
    multiply(x, x2, x3);
    return;
  }
  const Stopwatch watch;
  symmetric_->square_cube(x, x2, x3);
  seconds_ += watch.seconds();
}

template <class T>
void DenseProducts<T>::multiply(const Matrix<T>& a, const Matrix<T>& b, Matrix<T>& c) {
  auto& plan = multiplication();
  const Stopwatch watch;
  plan.execute(T{1}, a, b, T{0}, c);
  seconds_ += watch.seconds();
}

template <class T>
Index DenseProducts<T>::workspace_bytes() const {
  Index bytes = general_ ? general_->choice().workspace_bytes : 0;
  if (symmetric_ && symmetric_->mesh().contains(context_.rank())) {
    // It is taken when it is first needed: blocks of both factors, a part of a sum, and both results.
    const Index edge = symmetric_->mesh().edge();
    const Index side = quotient_up(layout_.shape().rows, edge);
    bytes += std::max(symmetric_->workspace_bytes(), 5 * side * side * Index{sizeof(T)});
  }
  return bytes;
}

template <class T>
std::string DenseProducts<T>::describe() const {
  if (!symmetric_) return general_->choice().arrangement.describe();
  const dense::SymmGrid& mesh = symmetric_->mesh();
  return fmt::format("squares and cubes on {} x {} x {} ranks", mesh.edge(), mesh.edge(), mesh.layers);
}

template class DenseProducts<double>;
template class DenseProducts<std::complex<double>>;

}  // namespace plait::purify
