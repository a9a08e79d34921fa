#include "plait/simd/reduce/reduce_reference.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "plait/base/complex.hpp"
#include "plait/simd/reduce/reduce_element.hpp"

namespace plait::simd {

namespace {

using enum ReduceOperation;

template <class T>
constexpr bool is_sixteen_bit_float = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

template <class T>
constexpr bool is_real = std::is_floating_point_v<T> || is_sixteen_bit_float<T>;

/// The table of the MPI standard.
template <ReduceOperation operation, class T>
constexpr bool is_defined() {
  switch (operation) {
    case max:
    case min: return std::is_integral_v<T> || is_real<T>;
    case sum:
    case prod: return std::is_integral_v<T> || is_real<T> || is_complex<T>;
    case band:
    case bor:
    case bxor: return std::is_integral_v<T>;
    case land:
    case lor:
    case lxor: return std::is_integral_v<T> || is_logical<T>;
    case maxloc:
    case minloc: return is_pair<T>;
    case replace:
    case no_op: return true;
  }
  return false;
}

template <ReduceOperation operation, class T>
T arithmetic(T a, T b) {
  static_assert(operation == sum || operation == prod);
  if constexpr (std::is_integral_v<T>) {
    using Bits = std::make_unsigned_t<T>;
    const std::uint64_t wide_a = static_cast<Bits>(a);  // wraps, and never as a promoted int, which must not overflow
    const std::uint64_t wide_b = static_cast<Bits>(b);
    return static_cast<T>(operation == sum ? wide_a + wide_b : wide_a * wide_b);
  } else if constexpr (is_complex<T>) {
    if constexpr (operation == sum) return a + b;
    const auto real = a.real() * b.real() - a.imag() * b.imag();
    const auto imaginary = a.real() * b.imag() + a.imag() * b.real();
    return T(real, imaginary);
  } else if constexpr (std::is_same_v<T, Float16>) {
    return to_float16(arithmetic<operation>(to_float(a), to_float(b)));
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return to_bfloat16(arithmetic<operation>(to_float(a), to_float(b)));
  } else {
    return operation == sum ? a + b : a * b;
  }
}

template <ReduceOperation operation, class T>
T extremum(T a, T b) {
  static_assert(operation == max || operation == min);
  if constexpr (is_sixteen_bit_float<T>) {
    const float x = to_float(a);
    const float y = to_float(b);
    return (operation == max ? x > y : x < y) ? a : b;
  } else {
    return (operation == max ? a > b : a < b) ? a : b;
  }
}

template <ReduceOperation operation, class T>
T bitwise(T a, T b) {
  if constexpr (operation == band) return static_cast<T>(a & b);
  if constexpr (operation == bor) return static_cast<T>(a | b);
  if constexpr (operation == bxor) return static_cast<T>(a ^ b);
}

template <ReduceOperation operation, class T>
T logical(T a, T b) {
  if constexpr (is_logical<T>) {
    return T{logical<operation>(a.value, b.value)};
  } else {
    if constexpr (operation == land) return static_cast<T>(a != 0 && b != 0);
    if constexpr (operation == lor) return static_cast<T>(a != 0 || b != 0);
    if constexpr (operation == lxor) return static_cast<T>((a != 0) != (b != 0));
  }
}

template <ReduceOperation operation, class T>
T reduced(T a, T b) {
  if constexpr (operation == max || operation == min) return extremum<operation>(a, b);
  if constexpr (operation == sum || operation == prod) return arithmetic<operation>(a, b);
  if constexpr (operation == band || operation == bor || operation == bxor) return bitwise<operation>(a, b);
  if constexpr (operation == land || operation == lor || operation == lxor) return logical<operation>(a, b);
}

template <ReduceOperation operation, class T>
bool takes_first(const T& a, const T& b) {
  static_assert(operation == maxloc || operation == minloc);
  if constexpr (std::is_integral_v<decltype(a.index)>) {
    const bool is_before = operation == maxloc ? a.value > b.value : a.value < b.value;
    return static_cast<bool>(int{is_before} | (int{a.value == b.value} & int{a.index < b.index}));
  } else {  // an index may be a NaN, for which programs have traps
    if (a.value == b.value) return a.index < b.index;
    return operation == maxloc ? a.value > b.value : a.value < b.value;
  }
}

/// Without a branch, which nothing could predict.
const std::byte* chosen(bool is_first, const std::byte* first, const std::byte* second) {
  const std::byte* const both[]{second, first};
  return both[is_first ? 1 : 0];
}

/// Both may be the same.
template <std::size_t begin, std::size_t end>
void copy_bytes(const std::byte* from, std::byte* to) {
  if constexpr (begin < end) {
    std::array<std::byte, end - begin> bytes;
    std::memcpy(bytes.data(), from + begin, end - begin);
    std::memcpy(to + begin, bytes.data(), end - begin);
  }
}

/// A pair with the padding of another one; the result's place may be that of either.
template <class T>
void take(const std::byte* pair, const std::byte* padding, std::byte* result) {
  constexpr std::size_t end_of_value = sizeof(T::value);
  constexpr std::size_t index = offsetof(T, index);
  constexpr std::size_t end_of_index = index + sizeof(T::index);
  copy_bytes<end_of_value, index>(padding, result);
  copy_bytes<end_of_index, sizeof(T)>(padding, result);
  copy_bytes<0, end_of_value>(pair, result);
  copy_bytes<index, end_of_index>(pair, result);
}

/// The bytes of a number that count: the rest of the x87's long double is padding.
template <class T>
constexpr std::size_t bytes_of_value =
    std::is_same_v<T, long double> && std::numeric_limits<T>::digits == 64 ? 10 : sizeof(T);

template <ReduceOperation operation, class T>
void combine(Index n, const void* a, const void* b, void* out) noexcept {
  if constexpr (operation == replace || operation == no_op) {
    const void* taken = operation == replace ? a : b;
    if (taken != out && n > 0) std::memcpy(out, taken, static_cast<std::size_t>(n) * sizeof(T));
  } else {
    const auto* first = static_cast<const std::byte*>(a);
    const auto* second = static_cast<const std::byte*>(b);
    auto* result = static_cast<std::byte*>(out);
    for (Index i = 0; i < n; ++i, first += sizeof(T), second += sizeof(T), result += sizeof(T)) {
      T x;
      T y;
      std::memcpy(&x, first, sizeof(T));  // any alignment will do
      std::memcpy(&y, second, sizeof(T));
      if constexpr (has_padding<T>) {
        take<T>(chosen(takes_first<operation>(x, y), first, second), second, result);
      } else if constexpr (is_pair<T>) {
        copy_bytes<0, sizeof(T)>(chosen(takes_first<operation>(x, y), first, second), result);
      } else {
        const T value = reduced<operation>(x, y);
        std::memcpy(result, &value, bytes_of_value<T>);
      }
    }
  }
}

template <ReduceOperation operation, class T>
void reduce(Index n, const void* in, void* inout) noexcept {
  combine<operation, T>(n, in, inout, inout);
}

template <ReduceOperation operation>
ReduceKernels kernels_of(Element element) {
  return with_type_of(element, []<class T>() {
    if constexpr (is_defined<operation, T>()) {
      return ReduceKernels{&reduce<operation, T>, &combine<operation, T>};
    } else {
      return ReduceKernels{};
    }
  });
}

}  // namespace

ReduceKernels reduce_reference(ReduceOperation operation, Element element) {
  switch (operation) {
    case max: return kernels_of<max>(element);
    case min: return kernels_of<min>(element);
    case sum: return kernels_of<sum>(element);
    case prod: return kernels_of<prod>(element);
    case band: return kernels_of<band>(element);
    case bor: return kernels_of<bor>(element);
    case bxor: return kernels_of<bxor>(element);
    case land: return kernels_of<land>(element);
    case lor: return kernels_of<lor>(element);
    case lxor: return kernels_of<lxor>(element);
    case maxloc: return kernels_of<maxloc>(element);
    case minloc: return kernels_of<minloc>(element);
    case replace: return kernels_of<replace>(element);
    case no_op: return kernels_of<no_op>(element);
  }
  return {};
}

}  // namespace plait::simd
