#include "plait/purify/orthogonal.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/purify/elementwise.hpp"
#include "plait/purify/products.hpp"
#include "plait/purify/spectrum.hpp"

namespace plait::purify {

namespace {

constexpr Index most_iterations = 45;       // they find 1e-15 of the largest eigenvalue, a rounding error
constexpr double least_eigenvalue = 1e-13;  // of the largest
constexpr double most_error = 1e-5;

template <class T>
double distance_from_identity(mpi::Context& context, const Matrix<T>& a, Matrix<T>& scratch) {
  blend<T>(-1, {{1, &a}}, scratch);
  return std::sqrt(inner_product(context, scratch, scratch));
}

}  // namespace

template <class T>
InverseRoot inverse_root(Products<T>& products, Matrix<T>& s, Matrix<T>& z) {
  mpi::Context& context = products.context();
  const Index n = products.layout().shape().rows;
  if (n == 0) return {};
  const RitzValues ends =
      lanczos<T>(context, n, 40, {}, [&](std::span<const T> x, std::span<T> y) { apply(context, s, x, y); });
  const auto refused = [&](std::string_view why) {
    return ArgumentError(
        fmt::format("overlap: {}, expected a positive definite matrix; its lowest eigenvalue is at most "
                    "{:.6g}, its highest at least {:.6g}",
                    why, ends.low, ends.high));
  };
  if (!(ends.low > 0)) throw refused("is not positive definite");
  const double bound = std::min(ends.high + ends.coupling, gershgorin(context, s).high) * (1 + 1e-12);
  if (ends.low < least_eigenvalue * bound) throw refused("is singular to rounding");
  blend<T>(0, {{1 / bound, &s}}, s);  // Y
  blend<T>(1, {}, z);
  auto t = allocate<T>(context, products.layout());
  auto scratch = allocate<T>(context, products.layout());
  InverseRoot result;
  double before = std::sqrt(static_cast<double>(n));
  for (;; ++result.iterations) {
    products.multiply(z, s, t);
    result.error = distance_from_identity(context, t, scratch);
    // Where all eigenvalues of I - ZY are in [0, 1), so is their order; the norm of many may exceed 1 for a while.
    const bool is_small = before < 1;
    if (is_small && result.error > before * before) break;
    if (result.error == 0) break;
    if (!(result.error <= before * (1 + 1e-9)) || result.iterations == most_iterations) {
      throw refused("has no inverse square root that the iteration finds");
    }
    before = result.error;
    blend<T>(1.5, {{-0.5, &t}}, t);
    products.multiply(s, t, scratch);
    std::swap(s, scratch);
    products.multiply(t, z, scratch);
    std::swap(z, scratch);
  }
  if (result.error > most_error) throw refused("is too badly conditioned");
  blend<T>(0, {{1 / std::sqrt(bound), &z}}, z);
  return result;
}

template <class T>
double root_error(Products<T>& products, const Matrix<T>& s, const Matrix<T>& z) {
  auto first = allocate<T>(products.context(), products.layout());
  auto second = allocate<T>(products.context(), products.layout());
  products.multiply(z, s, first);
  products.multiply(first, z, second);
  return distance_from_identity(products.context(), second, first);
}

template <class T>
void transform(Products<T>& products, const Matrix<T>& z, Matrix<T>& a) {
  auto half = allocate<T>(products.context(), products.layout());
  products.multiply(z, a, half);
  products.multiply(half, z, a);
  take_adjoint(products.context(), a, half);
  take_hermitian_part(a, half);
}

std::string DensityErrors::complaint(Index n, bool has_overlap) const {
  const double rounding = (has_overlap ? 1e-7 : 1e-9) * std::max(1.0, static_cast<double>(n));
  if (std::abs(trace) < rounding && idempotency < rounding * norm && commutator < most_commutator &&
      energy < rounding * norm) {
    return {};
  }
  return fmt::format("trace error {:.2e}, ||DSD - D|| {:.2e}, commutator with H {:.2e}, error of the energy {:.2e}",
                     trace, idempotency, commutator, energy);
}

template <class T>
DensityErrors density_errors(mpi::Context& context, const State& state, const Matrix<T>& h, const Matrix<T>& d) {
  const Iterate& last = state.iterates.back();
  const Interval spectrum = state.problem.spectrum;
  const double width = spectrum.width();
  const auto n = static_cast<double>(h.layout().shape().rows);
  const bool has_states = n > 0 && width > 0;
  // Of the elements of H, which have the distance of the spectrum from 0, too.
  const double rounding = 1e-15 * std::sqrt(n) * std::max(std::abs(spectrum.low), std::abs(spectrum.high));
  return {.trace = last.trace - static_cast<double>(state.problem.occupied),
          .idempotency = last.idempotency_error,
          .commutator = has_states ? commutator_error(context, h, d) / width : 0,
          .most_commutator = (state.began_early() ? 3e-6 : 1e-7) + (has_states ? rounding / width : 0)};
}

template <class T>
void bring_back(Products<T>& products, const Matrix<T>& z, const Matrix<T>& s, Index occupied, Matrix<T>& d,
                DensityErrors& errors) {
  mpi::Context& context = products.context();
  transform(products, z, d);
  auto first = allocate<T>(context, products.layout());
  auto second = allocate<T>(context, products.layout());
  products.multiply(d, s, first);
  errors.trace = trace(context, first) - static_cast<double>(occupied);
  products.multiply(first, d, second);
  errors.idempotency = distance(context, second, d);
  errors.norm = std::max(1.0, std::sqrt(inner_product(context, d, d)));
}

#define PLAIT_INSTANTIATE(T)                                                                              \
  template InverseRoot inverse_root(Products<T>&, Matrix<T>&, Matrix<T>&);                                \
  template double root_error(Products<T>&, const Matrix<T>&, const Matrix<T>&);                           \
  template void transform(Products<T>&, const Matrix<T>&, Matrix<T>&);                                    \
  template DensityErrors density_errors(mpi::Context&, const State&, const Matrix<T>&, const Matrix<T>&); \
  template void bring_back(Products<T>&, const Matrix<T>&, const Matrix<T>&, Index, Matrix<T>&, DensityErrors&);
PLAIT_INSTANTIATE(double)
PLAIT_INSTANTIATE(std::complex<double>)
#undef PLAIT_INSTANTIATE

}  // namespace plait::purify
