#include "bench/reduce/element_values.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "plait/base/contract.hpp"

namespace plait::bench {

namespace {

using simd::Element;
using simd::ReduceOperation;

/// What stands at place i: a value, the imaginary part of a complex one, and the index of a pair.
struct Values {
  int value;
  int imaginary;
  int index;
};

/// -1 only where the type has it.
Values values_at(ReduceOperation operation, Operand operand, Index i, bool has_sign) {
  const int turn = static_cast<int>(i % 4);
  const int index = static_cast<int>(i % 7) + (operand == Operand::in ? 0 : 3);
  if (operand == Operand::in && operation == ReduceOperation::prod) {
    if (!has_sign) return {1, 0, 0};
    constexpr std::array units{std::array{1, 0}, std::array{0, 1}, std::array{-1, 0}, std::array{0, -1}};
    const auto& unit = units.at(static_cast<std::size_t>(turn));
    return {unit[0] == 0 ? 1 : unit[0], unit[1], index};
  }
  const int value = operand == Operand::in ? turn : static_cast<int>(i / 4 % 4);
  return {has_sign && value == 3 ? -1 : value, static_cast<int>(i % 3), index};
}

template <class T>
void put(std::byte*& to, const T& value) {
  std::memcpy(to, &value, sizeof(T));
  to += sizeof(T);
}

/// What of it is not padding.
template <class T>
constexpr std::size_t value_bytes = sizeof(T);
template <>
constexpr std::size_t value_bytes<long double> =
    std::numeric_limits<long double>::digits == 64 ? 10 : sizeof(long double);

template <class T>
struct Pair {
  T value;
  int index;
};

template <class T>
void put_pair(std::byte* to, const Values& values) {
  std::memset(to, 0, sizeof(Pair<T>));
  const Pair<T> pair{static_cast<T>(values.value), values.index};
  // Field by field, so that the padding stays 0.
  std::memcpy(to + offsetof(Pair<T>, value), &pair.value, value_bytes<T>);
  std::memcpy(to + offsetof(Pair<T>, index), &pair.index, sizeof(int));
}

std::uint16_t float16_of(int value) {
  switch (value) {
    case -1: return 0xBC00;
    case 0: return 0;
    case 1: return 0x3C00;
    default: return 0x4000;  // 2
  }
}

/// Its upper half has all of a small integer.
std::uint16_t bfloat16_of(int value) {
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16);
}

template <class T>
void put_complex(std::byte* to, ReduceOperation operation, Operand operand, const Values& values) {
  const bool unit = operation == ReduceOperation::prod && operand == Operand::in;
  put(to, static_cast<T>(unit && values.imaginary != 0 ? 0 : values.value));
  put(to, static_cast<T>(values.imaginary));
}

void put_element(Element element, ReduceOperation operation, Operand operand, const Values& values, std::byte* to) {
  const int value = values.value;
  switch (element) {
    case Element::int8:
    case Element::uint8: return put(to, static_cast<std::int8_t>(value));
    case Element::int16:
    case Element::uint16: return put(to, static_cast<std::int16_t>(value));
    case Element::int32:
    case Element::uint32: return put(to, static_cast<std::int32_t>(value));
    case Element::logical: return put(to, std::int32_t{value != 0});
    case Element::int64:
    case Element::uint64: return put(to, static_cast<std::int64_t>(value));
    case Element::boolean: return put(to, value != 0);
    case Element::float16: return put(to, float16_of(value));
    case Element::bfloat16: return put(to, bfloat16_of(value));
    case Element::float32: return put(to, static_cast<float>(value));
    case Element::float64: return put(to, static_cast<double>(value));
    case Element::long_double: {
      std::memset(to, 0, sizeof(long double));
      const long double number = value;
      std::memcpy(to, &number, value_bytes<long double>);
      return;
    }
    case Element::complex64: return put_complex<float>(to, operation, operand, values);
    case Element::complex128: return put_complex<double>(to, operation, operand, values);
    case Element::float_int: return put_pair<float>(to, values);
    case Element::double_int: return put_pair<double>(to, values);
    case Element::long_int: return put_pair<long>(to, values);
    case Element::short_int: return put_pair<short>(to, values);
    case Element::int_int: return put_pair<int>(to, values);
    case Element::long_double_int: return put_pair<long double>(to, values);
    case Element::float_float: put(to, static_cast<float>(value)), put(to, static_cast<float>(values.index)); return;
    case Element::double_double:
      put(to, static_cast<double>(value)), put(to, static_cast<double>(values.index));
      return;
  }
  PLAIT_ASSERT(false, "all elements are written");
}

bool has_sign(Element element) {
  switch (element) {
    case Element::uint8:
    case Element::uint16:
    case Element::uint32:
    case Element::uint64:
    case Element::boolean:
    case Element::logical: return false;
    default: return true;
  }
}

}  // namespace

void write_operand(ReduceOperation operation, Element element, Operand operand, std::byte* memory, Index count) {
  const Index size = simd::size_in_bytes(element);
  for (Index i = 0; i < count; ++i) {
    put_element(element, operation, operand, values_at(operation, operand, i, has_sign(element)), memory + i * size);
  }
}

}  // namespace plait::bench
