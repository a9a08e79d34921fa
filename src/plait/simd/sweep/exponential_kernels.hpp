#pragma once

#include "plait/base/index.hpp"
#include "plait/simd/isa.hpp"
#include "plait/simd/row_block.hpp"

namespace plait::simd {

/// What optimal transport in the logarithmic domain is made of, for a few rows of a cost matrix at a time. Costs T are
/// computed with as numbers A. A cost of +infinity is one of an entry that is always 0.
template <class T, class A>
  requires ComputedAs<T, A>
struct ExponentialKernels {
  /// e(i, j) = exp(f[i] + g[j] + factor C(i, j));  sums[i] = Σ_j e(i, j)
  ///
  /// Exponentials have a relative error of 5.6e-16 (double) or 1.5e-7 (float) at most beside what rounding the exponent
  /// makes of it, 2 (|f| + |g| + |factor C|) times the unit roundoff. Those below the least normal number are 0: they
  /// would change no sum that is above that number by its precision, but take processors 60 times as long.
  /// Beyond the range they are infinite, and no numbers or infinite for exponents above 10^13.
  ///
  /// \pre  e has as many rows and columns as cost
  void (*exponential_sums)(RowBlock<const T> cost, A factor, const A* f, const A* g, RowBlock<A> e, A* sums);

  /// maxima[i] = max_j g[j] + factor C(i, j); -infinity for no columns
  void (*row_maxima)(RowBlock<const T> cost, A factor, const A* g, A* maxima);
};

/// For double, float, and float computed with as double.
/// \pre  is_supported(isa)
template <class T, class A>
  requires ComputedAs<T, A>
[[nodiscard]] ExponentialKernels<T, A> exponential_kernels(Isa isa = selected_isa());

}  // namespace plait::simd
