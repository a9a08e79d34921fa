#include "cli/options/scalar.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <complex>
#include <limits>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"

namespace plait::cli {

namespace {

template <class T>
std::optional<T> number(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);  // which from_chars does not know
  T value{};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if constexpr (std::is_floating_point_v<T>) {
    if (!std::isfinite(value)) return std::nullopt;
  }
  return value;
}

// The texts of the real and of the imaginary part; whether they are numbers is for others to tell.
std::pair<std::string, std::string> parts_of(std::string_view text) {
  if (text.starts_with('(') && text.ends_with(')')) {
    const auto comma = std::min(text.find(','), text.size() - 1);
    const auto second = std::min(comma + 1, text.size() - 1);
    return {std::string(text.substr(1, comma - 1)), std::string(text.substr(second, text.size() - 1 - second))};
  }
  if (!text.ends_with('i') && !text.ends_with('j')) return {std::string(text), "0"};
  text.remove_suffix(1);
  std::size_t sign = text.find_last_of("+-");
  while (sign != std::string_view::npos && sign > 0 && (text[sign - 1] == 'e' || text[sign - 1] == 'E')) {
    sign = text.find_last_of("+-", sign - 1);  // that of an exponent
  }
  const std::size_t split = sign == std::string_view::npos ? 0 : sign;
  std::string imaginary(text.substr(split));
  if (imaginary.empty() || imaginary == "+" || imaginary == "-") imaginary += '1';
  return {split == 0 ? "0" : std::string(text.substr(0, split)), imaginary};
}

template <class T>
T real_as(const std::string& part, const std::string& whole) {
  if (const auto value = number<T>(part)) return *value;
  constexpr auto dtype = io::dtype_of<T>();
  if constexpr (std::is_integral_v<T>) {
    throw ArgumentError(fmt::format("{} is no {}; expected a whole number from {} to {}", whole, io::name(dtype),
                                    std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
  } else {
    throw ArgumentError(fmt::format("{} does not fit into {}; expected a number from {:.3g} to {:.3g} in size", whole,
                                    io::name(dtype), std::numeric_limits<T>::denorm_min(),
                                    std::numeric_limits<T>::max()));
  }
}

}  // namespace

Scalar::Scalar(std::string_view text) : text_(text) {
  std::tie(real_, imaginary_) = parts_of(text);
  const auto real = number<double>(real_);
  const auto imaginary = number<double>(imaginary_);
  if (!real || !imaginary) {
    throw ArgumentError(fmt::format("'{}' is no number; expected one such as 2, -0.5, 1e-3, 1+2i or (1,2)", text));
  }
  rounded_ = {*real, *imaginary};
}

template <io::FileElement T>
T Scalar::as() const {
  if constexpr (requires { typename T::value_type; }) {
    using Real = typename T::value_type;
    return {real_as<Real>(real_, text_), real_as<Real>(imaginary_, text_)};
  } else {
    if (*number<double>(imaginary_) != 0) {
      throw ArgumentError(
          fmt::format("{} is complex; expected a number that {} can hold", text_, io::name(io::dtype_of<T>())));
    }
    return real_as<T>(real_, text_);
  }
}

#define PLAIT_INSTANTIATE(T) template T Scalar::as<T>() const;
PLAIT_FOR_EACH_DTYPE(PLAIT_INSTANTIATE)
#undef PLAIT_INSTANTIATE

}  // namespace plait::cli
