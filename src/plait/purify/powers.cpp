#include "plait/purify/powers.hpp"

#include <array>
#include <cmath>
#include <complex>
#include <span>

#include "plait/base/contract.hpp"
#include "plait/purify/products.hpp"

namespace plait::purify {

template <class T>
Powers<T>::Powers(Products<T>& products, const Matrix<T>& h, Method method)
    : products_(products),
      h_(h),
      x_(allocate<T>(products.context(), products.layout())),
      x2_(allocate<T>(products.context(), products.layout())) {
  if (matrices_held(method) > 2) x3_.emplace(allocate<T>(products.context(), products.layout()));
}

template <class T>
void Powers<T>::begin(double identity, double slope) {
  blend<T>(identity, {{slope, &h_}}, x_);
}

template <class T>
Measures Powers<T>::look(bool takes_cube) {
  has_cube_ = takes_cube;
  count_ += takes_cube ? 2 : 1;
  if (takes_cube) {
    products_.square_cube(x_, x2_, *x3_);
  } else {
    products_.square(x_, x2_);
  }
  return measure(products_.context(), x_, x2_, h_);
}

template <class T>
void Powers<T>::make_hermitian() {
  take_adjoint(products_.context(), x_, x2_);
  take_hermitian_part(x_, x2_);
}

template <class T>
void Powers<T>::take(const Polynomial& step) {
  const double fourth = step[4];
  const bool makes_product = fourth != 0 || (step[3] != 0 && !has_cube_);
  if (makes_product) ++count_;
  if (fourth == 0) {
    if (makes_product) products_.multiply(x_, x2_, *x3_);
    const std::array<Term<T>, 3> terms{{{step[1], &x_}, {step[2], &x2_}, {step[3], x3_ ? &*x3_ : nullptr}}};
    blend<T>(step[0], std::span(terms).first(x3_ ? 3 : 2), x_);
    return;
  }
  // c2 X² + c3 X³ + c4 X⁴ is one product beyond X². As a square, c4 (X² + kX)² + (c2 - c4 k²) X², it takes what squares
  // have for symmetry; where c4 is small, that would magnify rounding errors.
  PLAIT_ASSERT(step[0] == 0 && step[1] == 0, "a polynomial of order 4 begins with x²");
  if (std::abs(fourth) < 0.5) {
    blend<T>(step[2], {{step[3], &x_}, {fourth, &x2_}}, *x3_);
    products_.multiply(x2_, *x3_, x_);
    // It is Hermitian to rounding only, and products that rely on it would magnify that in each step of a small gap.
    take_adjoint(products_.context(), x_, *x3_);
    take_hermitian_part(x_, *x3_);
    return;
  }
  const double k = step[3] / (2 * fourth);
  blend<T>(0, {{k, &x_}, {1, &x2_}}, *x3_);
  products_.square(*x3_, x_);
  blend<T>(0, {{fourth, &x_}, {step[2] - fourth * k * k, &x2_}}, x_);
}

template class Powers<float>;
template class Powers<double>;
template class Powers<std::complex<float>>;
template class Powers<std::complex<double>>;

}  // namespace plait::purify
