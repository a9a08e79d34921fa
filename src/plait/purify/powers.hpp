#pragma once

#include <optional>

#include "plait/base/index.hpp"
#include "plait/purify/elementwise.hpp"
#include "plait/purify/method.hpp"
#include "plait/purify/occupation.hpp"
#include "plait/purify/products.hpp"

namespace plait::purify {

/// An iterate X of a purification of h, and the powers of it of which the next one is made. T is float, double, or
/// std::complex of one. Everything but `x` and `count` is collective over the context of the products, which outlive
/// this, as h does.
template <class T>
class Powers {
 public:
  /// \throws OutOfMemory  on all ranks
  Powers(Products<T>& products, const Matrix<T>& h, Method method);

  /// X ← identity + slope·h
  void begin(double identity, double slope);
  /// Computes X², and X³ too where `takes_cube`.
  [[nodiscard]] Measures look(bool takes_cube);
  /// X ← (X + Xᴴ)/2, which products rely on to the last bit: what was rounded to single precision is Hermitian to that.
  void make_hermitian();
  /// X ← step(X), after `look`.
  void take(const Polynomial& step);

  [[nodiscard]] Matrix<T>& x() noexcept { return x_; }
  [[nodiscard]] const Matrix<T>& x() const noexcept { return x_; }
  /// Of all products.
  [[nodiscard]] Index count() const noexcept { return count_; }

 private:
  Products<T>& products_;
  const Matrix<T>& h_;
  Matrix<T> x_;
  Matrix<T> x2_;
  std::optional<Matrix<T>> x3_;  // or whatever else is needed on the way
  bool has_cube_ = false;
  Index count_ = 0;
};

/// The matrices of the layout that it holds.
[[nodiscard]] constexpr Index matrices_held(Method method) noexcept { return method == Method::tc2 ? 2 : 3; }

}  // namespace plait::purify
