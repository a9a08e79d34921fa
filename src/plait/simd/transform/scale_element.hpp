#pragma once

#include <complex>
#include <type_traits>

#include "plait/base/complex.hpp"
#include "plait/base/index.hpp"

/// What happens to one element of `scale_add`. For the files of that family only: they are compiled without
/// contraction, that is, a product is rounded before it is added to anything, so that every instruction set gives the
/// same bits.
namespace plait::simd {

/// Integers wrap; complex numbers follow the textbook, (ac - bd) + (ad + bc)i, infinities and all.
template <class T>
[[nodiscard]] constexpr T product(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using Wide = std::common_type_t<std::make_unsigned_t<T>, unsigned>;  // products of narrow types would be signed
    return static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(b));
  } else if constexpr (is_complex<T>) {
    return T(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
  } else {
    return a * b;
  }
}

template <class T>
[[nodiscard]] constexpr T sum(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using Wide = std::common_type_t<std::make_unsigned_t<T>, unsigned>;
    return static_cast<T>(static_cast<Wide>(a) + static_cast<Wide>(b));
  } else if constexpr (is_complex<T>) {
    return T(a.real() + b.real(), a.imag() + b.imag());
  } else {
    return a + b;
  }
}

template <class T>
[[nodiscard]] constexpr T conjugated_if(bool conjugate, T a) {
  if constexpr (is_complex<T>) {
    return conjugate ? T(a.real(), -a.imag()) : a;
  } else {
    return a;
  }
}

/// A factor of 0 makes its term vanish and one of 1 leaves it as it is, whatever its elements are.
enum class Factor : unsigned char { zero, one, other };

/// target[i] = alpha * source[i] + beta * target[i], with what follows from alpha and beta alone.
template <class T>
struct Scaling {
  T alpha;
  T beta;
  bool conjugate;
  Factor by_alpha;
  Factor by_beta;

  constexpr Scaling(T alpha_value, bool conjugate_source, T beta_value)
      : alpha(alpha_value),
        beta(beta_value),
        conjugate(conjugate_source),
        by_alpha(kind(alpha_value)),
        by_beta(kind(beta_value)) {}

  [[nodiscard]] constexpr bool is_copy() const {
    return by_alpha == Factor::one && by_beta == Factor::zero && !(is_complex<T> && conjugate);
  }

 private:
  [[nodiscard]] static constexpr Factor kind(T factor) {
    return factor == T(0) ? Factor::zero : factor == T(1) ? Factor::one : Factor::other;
  }
};

template <class T>
[[nodiscard]] constexpr T scaled_element(Factor by, T factor, T element) {
  return by == Factor::one ? element : product(factor, element);
}

/// What becomes of one element of the target. Neither pointer is followed where its factor is 0.
template <class T>
[[nodiscard]] constexpr T scale_added_element(const Scaling<T>& scaling, const T* source, const T* target) {
  if (scaling.by_alpha == Factor::zero && scaling.by_beta == Factor::zero) return T(0);
  if (scaling.by_alpha == Factor::zero) return scaled_element(scaling.by_beta, scaling.beta, *target);
  const T added = scaled_element(scaling.by_alpha, scaling.alpha, conjugated_if(scaling.conjugate, *source));
  if (scaling.by_beta == Factor::zero) return added;
  return sum(added, scaled_element(scaling.by_beta, scaling.beta, *target));
}

}  // namespace plait::simd
