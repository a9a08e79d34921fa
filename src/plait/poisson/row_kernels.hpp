#pragma once

#include <array>
#include <cstddef>

#include "plait/base/index.hpp"
#include "plait/simd/isa.hpp"

/// What the passes over a grid do with one row of points. All of a row is computed in whole vectors, so that a point
/// has the same bits wherever its row begins: up to `most_lanes` - 1 elements beyond a row are read and written.
namespace plait::poisson {

inline constexpr Index most_lanes = 16;

/// The equations of a row:  b - Σ c (u - u_next) = 0.  Pointers are those of the row's first point; those across an
/// axis that is not used point to zeros.
template <class T>
struct RowStencil {
  const T *u, *b;
  const T *left, *right;
  std::array<const T*, 2> below, above;  // across axes 0 and 1

  // k = 1: what values next to a point are multiplied by.
  const T *weight_left, *weight_right;
  std::array<T, 2> weight_below, weight_above;
  const T* inverse;  // of the diagonal, or 0

  // k varies: conductances of faces, and 1 / widths.
  const T *c_left, *c_right, *inverse_width;
  std::array<const T*, 2> c_below, c_above;
  std::array<T, 2> inverse_widths;

  // More rows like it follow, each so many elements further; what is read or written so far ahead is fetched.
  Index rows = 1, step = 0, ahead = 0;

  /// To what is so many elements further; weights of rows without a k are the same for all.
  void advance(Index by) {
    for (auto* pointer : {&u, &b, &left, &right, &c_left, &c_right}) *pointer += *pointer != nullptr ? by : 0;
    for (auto* pair : {&below, &above, &c_below, &c_above}) {
      for (const T*& pointer : *pair) pointer += pointer != nullptr ? by : 0;
    }
  }
};

template <class T>
struct StencilKernels {
  using Kernel = void (*)(const RowStencil<T>& row, Index count, T* out);
  Kernel relax;     ///< out ← what solves a point's equation; 0 where there is no diagonal
  Kernel begin;     ///< the same where all around it is 0
  Kernel residual;  ///< out ← b - A u
};

/// Rows and what they are multiplied by.
template <class T>
struct WeightedRows {
  static constexpr std::size_t most = 9;
  std::array<const T*, most> rows;
  std::array<T, most> weights;
  std::size_t count = 0;

  void add(const T* row, T weight) {
    rows[count] = row;
    weights[count++] = weight;
  }
};

/// The equations of a row with any points around:  b - e u - Σ c (u_next - u).
template <class T>
struct PointRow {
  static constexpr std::size_t most = 26;
  const T* b = nullptr;
  const T* u = nullptr;
  const T* excess = nullptr;
  std::array<const T*, most> c{}, next{};
  std::size_t count = 0;

  void add(const T* coefficients, const T* values) {
    c[count] = coefficients;
    next[count++] = values;
  }
};

template <class T>
struct RowKernels {
  /// By whether axis 1 is used, and whether k varies.
  std::array<std::array<StencilKernels<T>, 2>, 2> stencils;
  /// out ← Σ weight · row
  void (*sum)(const WeightedRows<T>& rows, Index count, T* out);
  /// c[X] = t[0][X] even[X] + t[1][X] odd[X] + t[2][X] even[X + 1] for X < count,  even and odd such sums; no rows: 0.
  /// Those of even X to c_even, of odd X to c_odd; there is room for twice as many elements beyond `taps` and rows.
  void (*restrict_row)(const WeightedRows<T>& even, const WeightedRows<T>& odd, const std::array<const T*, 3>& taps,
                       Index count, T* c_even, T* c_odd);
  /// u[X] ← u[X] + own[X] e[X] + other[X] next[X]
  void (*interpolate)(const T* own, const T* other, const T* e, const T* next, Index count, T* u);
  /// row[2X] ← even[X], row[2X + 1] ← odd[X], for X < count
  void (*join)(const T* even, const T* odd, Index count, T* row);
  /// c[X] ← 1 / (below share / k below + above share / k), shares = shares[X] · factors; 0 where there are none
  void (*conductance)(const T* k_below, const T* k, const std::array<const T*, 2>& shares,
                      const std::array<T, 2>& factors, Index count, T* c);
  /// out ← b - e u - Σ c (u_next - u)
  void (*point_residual)(const PointRow<T>& row, Index count, T* out);
  /// even[X] ← factor row[2X], odd[X] ← factor row[2X + 1], rounded, for the count elements of the row alone
  void (*split)(const double* row, double factor, Index count, T* even, T* odd);
  /// u[2X] ← u[2X] + factor even[X], u[2X + 1] ← u[2X + 1] + factor odd[X], likewise
  void (*add)(const T* even, const T* odd, double factor, Index count, double* u);
};

/// \pre  simd::is_supported(isa)
template <class T>
[[nodiscard]] const RowKernels<T>& row_kernels(simd::Isa isa = simd::selected_isa());

}  // namespace plait::poisson
