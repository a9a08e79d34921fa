#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "plait/base/index.hpp"
#include "plait/simd/isa.hpp"
#include "plait/simd/reduce/element.hpp"

namespace plait::simd {

/// The predefined operations of MPI.
enum class ReduceOperation : unsigned char {
  max,
  min,
  sum,
  prod,
  band,
  bor,
  bxor,
  land,
  lor,
  lxor,
  maxloc,
  minloc,
  replace,
  no_op,
};

inline constexpr std::size_t reduce_operation_count = 14;

/// All of them, in the order of `ReduceOperation`.
[[nodiscard]] constexpr std::array<ReduceOperation, reduce_operation_count> reduce_operations() noexcept {
  std::array<ReduceOperation, reduce_operation_count> all{};
  for (std::size_t i = 0; i < reduce_operation_count; ++i) all[i] = static_cast<ReduceOperation>(i);
  return all;
}

[[nodiscard]] std::string_view name(ReduceOperation operation) noexcept;

/// inout[i] = in[i] op inout[i],  0 <= i < n.
using ReduceKernel = void(Index n, const void* in, void* inout) noexcept;

/// out[i] = a[i] op b[i],  0 <= i < n.
using CombineKernel = void(Index n, const void* a, const void* b, void* out) noexcept;

/// The kernel for an operation on elements of a kind, or null where MPI does not define the one on the other. It runs
/// at the speed of memory whatever the two are, but for long double, which no vector unit computes with.
///
/// Every element gets the same bits on every instruction set, at every place and length:
/// - integers wrap; `max` is a > b ? a : b and `min` is a < b ? a : b, so that b is the result where they are unordered
///   or equal (NaN, zeros of either sign), but for the sign and payload of a NaN that `sum` and `prod` give;
/// - logical operations take all that is not 0 for true, and give 1 or 0;
/// - `maxloc` and `minloc` take one of the two pairs as it is, that of the lower index where the values are equal, and
///   b where they are unordered or the indices equal; padding is always b's, so that a `ReduceKernel` leaves it alone;
/// - complex products follow the textbook, (ac - bd) + (ad + bc)i, each step rounded by itself;
/// - `replace` gives a, `no_op` b.
///
/// `in` and `inout` do not overlap, or are the same; so do `a` and `out`, and `b` and `out`. Any alignment will do. A
/// `CombineKernel` stores past the caches what is too large for them (see stores.hpp), unless `out` is an operand.
///
/// \pre  is_supported(isa)
[[nodiscard]] ReduceKernel* reduce_kernel(ReduceOperation operation, Element element, Isa isa = selected_isa());
[[nodiscard]] CombineKernel* combine_kernel(ReduceOperation operation, Element element, Isa isa = selected_isa());

}  // namespace plait::simd
