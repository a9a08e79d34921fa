#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>

#include "plait/simd/float16.hpp"
#include "plait/simd/reduce/element.hpp"

namespace plait::simd {

/// The C++ types of the elements of a reduction that have none of their own.
struct Boolean {
  std::uint8_t value;
};
struct Logical {
  std::uint32_t value;
};

/// What MAXLOC and MINLOC compare, as C lays it out.
template <class Value, class Index>
struct ValueAndIndex {
  Value value;
  Index index;
};

template <class T>
inline constexpr bool is_pair = false;
template <class Value, class Index>
inline constexpr bool is_pair<ValueAndIndex<Value, Index>> = true;

/// Whether an element has bytes that are of neither its value nor its index.
template <class T>
inline constexpr bool has_padding = false;
template <class Value, class Index>
inline constexpr bool has_padding<ValueAndIndex<Value, Index>> = sizeof(ValueAndIndex<Value, Index>) >
                                                                 sizeof(Value) + sizeof(Index);

template <class T>
inline constexpr bool is_logical = std::is_same_v<T, Boolean> || std::is_same_v<T, Logical>;

/// `function.template operator()<T>()` for the type of an element.
template <class Function>
constexpr auto with_type_of(Element element, Function function) {
  switch (element) {
    case Element::int8: return function.template operator()<std::int8_t>();
    case Element::int16: return function.template operator()<std::int16_t>();
    case Element::int32: return function.template operator()<std::int32_t>();
    case Element::int64: return function.template operator()<std::int64_t>();
    case Element::uint8: return function.template operator()<std::uint8_t>();
    case Element::uint16: return function.template operator()<std::uint16_t>();
    case Element::uint32: return function.template operator()<std::uint32_t>();
    case Element::uint64: return function.template operator()<std::uint64_t>();
    case Element::float16: return function.template operator()<Float16>();
    case Element::bfloat16: return function.template operator()<BFloat16>();
    case Element::float32: return function.template operator()<float>();
    case Element::float64: return function.template operator()<double>();
    case Element::long_double: return function.template operator()<long double>();
    case Element::complex64: return function.template operator()<std::complex<float>>();
    case Element::complex128: return function.template operator()<std::complex<double>>();
    case Element::boolean: return function.template operator()<Boolean>();
    case Element::logical: return function.template operator()<Logical>();
    case Element::float_int: return function.template operator()<ValueAndIndex<float, std::int32_t>>();
    case Element::double_int: return function.template operator()<ValueAndIndex<double, std::int32_t>>();
    case Element::long_int: return function.template operator()<ValueAndIndex<std::int64_t, std::int32_t>>();
    case Element::short_int: return function.template operator()<ValueAndIndex<std::int16_t, std::int32_t>>();
    case Element::int_int: return function.template operator()<ValueAndIndex<std::int32_t, std::int32_t>>();
    case Element::long_double_int: return function.template operator()<ValueAndIndex<long double, std::int32_t>>();
    case Element::float_float: return function.template operator()<ValueAndIndex<float, float>>();
    case Element::double_double: break;
  }
  return function.template operator()<ValueAndIndex<double, double>>();
}

}  // namespace plait::simd
