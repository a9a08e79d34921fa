#pragma once

#include <mpi.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

// All of MPI's predefined types and the operations on them, by naive loops. This knows nothing of plait.

template <class Value, class Index>
struct Pair {
  Value value;
  Index index;
};

template <class T>
struct is_pair : std::false_type {};
template <class Value, class Index>
struct is_pair<Pair<Value, Index>> : std::true_type {};
template <class T>
struct is_complex : std::false_type {};
template <class R>
struct is_complex<std::complex<R>> : std::true_type {};

using LongDouble = long double;

enum class Group { c_integer, fortran_integer, floating_point, logical, complex, byte, multi_language, pair };

struct NamedOperation {
  const char* name;
  MPI_Op operation;
};

inline std::vector<NamedOperation> all_operations() {
  return {{"MAX", MPI_MAX},     {"MIN", MPI_MIN},        {"SUM", MPI_SUM},       {"PROD", MPI_PROD},
          {"LAND", MPI_LAND},   {"BAND", MPI_BAND},      {"LOR", MPI_LOR},       {"BOR", MPI_BOR},
          {"LXOR", MPI_LXOR},   {"BXOR", MPI_BXOR},      {"MAXLOC", MPI_MAXLOC}, {"MINLOC", MPI_MINLOC},
          {"NO_OP", MPI_NO_OP}, {"REPLACE", MPI_REPLACE}};
}

inline bool is_defined(MPI_Op op, Group group) {
  const bool is_number = group == Group::c_integer || group == Group::fortran_integer ||
                         group == Group::floating_point || group == Group::multi_language;
  if (op == MPI_MAX || op == MPI_MIN) return is_number;
  if (op == MPI_SUM || op == MPI_PROD) return is_number || group == Group::complex;
  if (op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR) {
#if defined(MPICH_VERSION)
    if (group == Group::fortran_integer || group == Group::multi_language) return true;  // beyond the standard
#endif
    return group == Group::c_integer || group == Group::logical;
  }
  if (op == MPI_BAND || op == MPI_BOR || op == MPI_BXOR) {
    return (is_number && group != Group::floating_point) || group == Group::byte;
  }
  if (op == MPI_MAXLOC || op == MPI_MINLOC) return group == Group::pair;
  return false;
}

/// a op b; integers wrap.
template <class T>
T combined(MPI_Op op, T a, T b) {
  if constexpr (is_pair<T>::value) {
    if (a.value == b.value) return a.index < b.index ? a : b;
    return (op == MPI_MAXLOC) == (a.value > b.value) ? a : b;
  } else {
    if constexpr (std::is_integral_v<T>) {
      using Wide = std::uint64_t;
      if (op == MPI_SUM) return static_cast<T>(static_cast<Wide>(a) + static_cast<Wide>(b));
      if (op == MPI_PROD) return static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(b));
      if (op == MPI_BAND) return static_cast<T>(a & b);
      if (op == MPI_BOR) return static_cast<T>(a | b);
      if (op == MPI_BXOR) return static_cast<T>(a ^ b);
      if (op == MPI_LAND) return static_cast<T>(a != 0 && b != 0);
      if (op == MPI_LOR) return static_cast<T>(a != 0 || b != 0);
      if (op == MPI_LXOR) return static_cast<T>((a != 0) != (b != 0));
    }
    if constexpr (!is_complex<T>::value) {
      if (op == MPI_MAX) return std::max(a, b);
      if (op == MPI_MIN) return std::min(a, b);
    }
    if (op == MPI_SUM) return static_cast<T>(a + b);
    return static_cast<T>(a * b);
  }
}

/// Element i of a rank: sums and products of a few of them are exact in any order. `wild` ones may wrap, and need
/// comparisons of unsigned integers that MPI libraries get wrong.
template <class T>
T value(MPI_Op op, Group group, int rank, int i, bool wild) {
  const int small = (3 * rank + 5 * i + i / 7) % 4;  // 0 to 3
  if constexpr (is_pair<T>::value) {
    T pair;
    std::memset(&pair, 0, sizeof pair);  // padding too
    pair.value = static_cast<decltype(pair.value)>(small - 1);
    pair.index = static_cast<decltype(pair.index)>((rank * 5 + i) % 3);
    return pair;
  } else if constexpr (is_complex<T>::value) {
    using Real = typename T::value_type;
    return {static_cast<Real>(small - 1), static_cast<Real>((rank + i) % 3 - 1)};
  } else {
    if (group == Group::logical) return static_cast<T>(small == 1 || small == 2);
    if (op == MPI_PROD && !wild) return static_cast<T>(1 + (rank + i) % 2);
    if constexpr (std::is_integral_v<T>) {
      if (wild) return static_cast<T>(0x9e3779b97f4a7c15U * static_cast<std::uint64_t>(i + 1000 * rank + 1) >> 3);
    }
    return static_cast<T>(small);
  }
}

/// Calls f(name, type, group, T{}) for each type that the MPI library has.
template <class F>
void for_all_types(F f) {
  const auto one = [&](const char* name, MPI_Datatype type, Group group, auto zero) {
    if (type != MPI_DATATYPE_NULL) f(name, type, group, zero);
  };
#define ONE(name, group, ...) one(#name, MPI_##name, Group::group, __VA_ARGS__{})
  ONE(SIGNED_CHAR, c_integer, std::int8_t);
  ONE(UNSIGNED_CHAR, c_integer, std::uint8_t);
  ONE(SHORT, c_integer, std::int16_t);
  ONE(UNSIGNED_SHORT, c_integer, std::uint16_t);
  ONE(INT, c_integer, std::int32_t);
  ONE(UNSIGNED, c_integer, std::uint32_t);
  ONE(LONG, c_integer, std::int64_t);
  ONE(UNSIGNED_LONG, c_integer, std::uint64_t);
  ONE(LONG_LONG, c_integer, std::int64_t);
  ONE(UNSIGNED_LONG_LONG, c_integer, std::uint64_t);
  ONE(INT8_T, c_integer, std::int8_t);
  ONE(INT16_T, c_integer, std::int16_t);
  ONE(INT32_T, c_integer, std::int32_t);
  ONE(INT64_T, c_integer, std::int64_t);
  ONE(UINT8_T, c_integer, std::uint8_t);
  ONE(UINT16_T, c_integer, std::uint16_t);
  ONE(UINT32_T, c_integer, std::uint32_t);
  ONE(UINT64_T, c_integer, std::uint64_t);
  ONE(AINT, multi_language, std::int64_t);
  ONE(OFFSET, multi_language, std::int64_t);
  ONE(COUNT, multi_language, std::int64_t);
  ONE(BYTE, byte, std::uint8_t);
  ONE(FLOAT, floating_point, float);
  ONE(DOUBLE, floating_point, double);
  ONE(LONG_DOUBLE, floating_point, LongDouble);
  ONE(C_BOOL, logical, bool);
  ONE(CXX_BOOL, logical, bool);
  ONE(C_FLOAT_COMPLEX, complex, std::complex<float>);
  ONE(C_DOUBLE_COMPLEX, complex, std::complex<double>);
  ONE(CXX_FLOAT_COMPLEX, complex, std::complex<float>);
  ONE(CXX_DOUBLE_COMPLEX, complex, std::complex<double>);
  ONE(INTEGER, fortran_integer, std::int32_t);
  ONE(INTEGER1, fortran_integer, std::int8_t);
  ONE(INTEGER2, fortran_integer, std::int16_t);
  ONE(INTEGER4, fortran_integer, std::int32_t);
  ONE(INTEGER8, fortran_integer, std::int64_t);
  ONE(REAL, floating_point, float);
  ONE(REAL4, floating_point, float);
  ONE(REAL8, floating_point, double);
  ONE(DOUBLE_PRECISION, floating_point, double);
  ONE(COMPLEX, complex, std::complex<float>);
  ONE(COMPLEX8, complex, std::complex<float>);
  ONE(COMPLEX16, complex, std::complex<double>);
  ONE(DOUBLE_COMPLEX, complex, std::complex<double>);
  ONE(LOGICAL, logical, std::int32_t);
  ONE(FLOAT_INT, pair, Pair<float, int>);
  ONE(DOUBLE_INT, pair, Pair<double, int>);
  ONE(LONG_INT, pair, Pair<long, int>);
  ONE(SHORT_INT, pair, Pair<short, int>);
  ONE(2INT, pair, Pair<int, int>);
  ONE(LONG_DOUBLE_INT, pair, Pair<long double, int>);
  ONE(2INTEGER, pair, Pair<int, int>);
  ONE(2REAL, pair, Pair<float, float>);
  ONE(2DOUBLE_PRECISION, pair, Pair<double, double>);
#undef ONE
}

/// Equal in value, whatever the padding.
template <class T>
bool is_equal(const T& a, const T& b) {
  if constexpr (is_pair<T>::value) {
    return a.value == b.value && a.index == b.index;
  } else {
    return a == b;
  }
}
