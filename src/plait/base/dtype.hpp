#pragma once

#include <array>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "plait/base/contract.hpp"
#include "plait/base/index.hpp"

namespace plait {

/// The types of elements, for what learns them at run time: from a file, from C, Fortran or Python. c64 is a pair of
/// f32, c128 a pair of f64.
enum class DType : unsigned char { i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, c64, c128 };

/// "f64" and so on.
[[nodiscard]] constexpr std::string_view name(DType dtype) noexcept {
  constexpr std::array<std::string_view, 12> names{"i8",  "i16", "i32", "i64", "u8",  "u16",
                                                   "u32", "u64", "f32", "f64", "c64", "c128"};
  return names[static_cast<std::size_t>(dtype)];
}

/// The DType of a name: plait's ("f64") or NumPy's ("float64").
///
/// \throws ArgumentError  naming the text and all that it could be
[[nodiscard]] DType parse_dtype(std::string_view text);

/// \throws ArgumentError  naming the type, and those that were expected
[[noreturn]] void throw_other_dtype(DType dtype, const std::string& expected);

/// Some C++ types of elements, for what serves these and no others.
template <class... Ts>
struct DTypes {
  template <class T>
  static constexpr bool has_type = (std::same_as<T, Ts> || ...);
  /// Of T among these.
  template <class T>
  [[nodiscard]] static constexpr std::size_t position() noexcept {
    std::size_t before = 0;
    static_cast<void>(((std::same_as<T, Ts> || (++before, false)) || ...));
    return before;
  }
  [[nodiscard]] static constexpr bool has(DType dtype) noexcept;
  /// "f32, f64, c64 or c128"
  [[nodiscard]] static std::string names(std::string_view last_word = "or");
  /// Calls `f.template operator()<T>()` with the C++ type of a DType and returns what it returns.
  /// \throws ArgumentError  if it is none of these
  template <class F>
  static decltype(auto) with(DType dtype, F&& f);
};

/// All of them, in the order of `DType`.
using AllDTypes = DTypes<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
                         std::uint32_t, std::uint64_t, float, double, std::complex<float>, std::complex<double>>;
/// What exact sums and products are made of, and what probabilities are.
using FieldDTypes = DTypes<float, double, std::complex<float>, std::complex<double>>;
using RealDTypes = DTypes<float, double>;

/// A C++ type with a DType.
template <class T>
concept Number = AllDTypes::has_type<T>;
/// Numbers that are divided.
template <class T>
concept Field = FieldDTypes::has_type<T>;

/// Calls X(T) for each `Number` in the order of `DType`, for explicit instantiations.
#define PLAIT_FOR_EACH_DTYPE(X) \
  X(std::int8_t)                \
  X(std::int16_t)               \
  X(std::int32_t)               \
  X(std::int64_t)               \
  X(std::uint8_t)               \
  X(std::uint16_t) X(std::uint32_t) X(std::uint64_t) X(float) X(double) X(std::complex<float>) X(std::complex<double>)

template <Number T>
[[nodiscard]] constexpr DType dtype_of() noexcept {
  return static_cast<DType>(AllDTypes::position<T>());
}

namespace detail {

template <class T, class... Rest, class F>
decltype(auto) with_one_of(DType dtype, F&& f) {
  if constexpr (sizeof...(Rest) > 0) {
    if (dtype != dtype_of<T>()) return with_one_of<Rest...>(dtype, std::forward<F>(f));
  }
  return std::forward<F>(f).template operator()<T>();
}

}  // namespace detail

template <class... Ts>
constexpr bool DTypes<Ts...>::has(DType dtype) noexcept {
  return ((dtype == dtype_of<Ts>()) || ...);
}

template <class... Ts>
std::string DTypes<Ts...>::names(std::string_view last_word) {
  const std::string before_last = " " + std::string(last_word) + " ";
  std::string text;
  std::size_t left = sizeof...(Ts);
  ((text += std::string(name(dtype_of<Ts>())) + (--left == 0 ? "" : left == 1 ? before_last : ", ")), ...);
  return text;
}

template <class... Ts>
template <class F>
decltype(auto) DTypes<Ts...>::with(DType dtype, F&& f) {
  if (!has(dtype)) throw_other_dtype(dtype, names());
  return detail::with_one_of<Ts...>(dtype, std::forward<F>(f));
}

/// `with` of all.
template <class F>
decltype(auto) with_dtype(DType dtype, F&& f) {
  return AllDTypes::with(dtype, std::forward<F>(f));
}

/// The size of one element.
[[nodiscard]] inline Index bytes(DType dtype) {
  return with_dtype(dtype, []<class T>() { return Index{sizeof(T)}; });
}

[[nodiscard]] constexpr bool is_complex_dtype(DType dtype) noexcept {
  return dtype == DType::c64 || dtype == DType::c128;
}

/// The size of what has a byte order: an element, or one of the two parts of a complex one.
[[nodiscard]] inline Index component_bytes(DType dtype) {
  return is_complex_dtype(dtype) ? bytes(dtype) / 2 : bytes(dtype);
}

/// "i8, i16, ... and c128", for error texts.
[[nodiscard]] inline std::string all_dtype_names() { return AllDTypes::names("and"); }

/// A kernel made for the one of these types that is known at run time only: what C, Fortran and Python hold. The
/// kernels are those of the types, in their order.
template <class Types, class... Kernels>
class AnyKernel {
 public:
  /// \throws ArgumentError  if there is none for the type; also what the constructor of the kernel throws
  template <class... Args>
  void emplace(DType dtype, Args&&... args) {
    Types::with(dtype, [&]<class T>() {
      its_.emplace(std::in_place_index<Types::template position<T>()>, std::forward<Args>(args)...);
    });
  }

  /// What f returns of the kernel, a `Kernel<T>&`.
  /// \pre  there is one
  template <class F>
  decltype(auto) visit(F&& f) {
    PLAIT_ASSERT(its_.has_value(), "a kernel is made before it is used");
    return std::visit(std::forward<F>(f), *its_);
  }
  template <class F>
  decltype(auto) visit(F&& f) const {
    PLAIT_ASSERT(its_.has_value(), "a kernel is made before it is used");
    return std::visit(std::forward<F>(f), *its_);
  }

 private:
  std::optional<std::variant<Kernels...>> its_;
};

}  // namespace plait
