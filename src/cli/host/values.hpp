#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <stdexcept>
#include <type_traits>

#include "plait/base/error.hpp"
#include "plait/io/dtype.hpp"
#include "plait/layout/shape.hpp"
#include "plait/redistribute/op.hpp"

#include "cli/host/text.hpp"

/// Values as the command line gives them.
namespace plait::cli {

/// The command line itself is wrong, whatever the files hold and however many ranks there are: exit status 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  template <class... Args>
  explicit UsageError(Format<Args...> format, Args&&... args)
      : UsageError(fmt::format(format, std::forward<Args>(args)...)) {}
};

/// All of a text as a number: nothing where it is none, or out of the range of T.
template <class T>
[[nodiscard]] std::optional<T> number_in(std::string_view text) {
  T number{};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if constexpr (std::is_floating_point_v<T>) {
    if (!std::isfinite(number)) return std::nullopt;
  }
  return number;
}

/// A finite number, such as 1e-9.
///
/// \throws ArgumentError
[[nodiscard]] inline double parse_number(std::string_view text) {
  if (const auto number = number_in<double>(text)) return *number;
  throw ArgumentError(fmt::format("'{}' is no number; expected one such as 0.25 or 1e-9", text));
}

/// \throws ArgumentError  no number, or one that is not positive
[[nodiscard]] inline double parse_positive_number(std::string_view text) {
  const double number = parse_number(text);
  if (number > 0) return number;
  throw ArgumentError(fmt::format("{} is not positive; expected a number > 0", text));
}

/// What stands between commas, each parsed by itself.
/// \throws ArgumentError  as `parse`
template <class Parse>
[[nodiscard]] auto parse_list(const std::string& text, const Parse& parse) {
  std::vector<decltype(parse(text))> list;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    list.push_back(parse(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return list;
}

/// "NUMBER[,NUMBER,...]", distances along axes.
/// \throws ArgumentError  as parse_positive_number
[[nodiscard]] inline std::vector<double> parse_spacing(const std::string& text) {
  return parse_list(text, parse_positive_number);
}

/// \throws ArgumentError  no number, or one below 0
[[nodiscard]] inline double parse_not_negative(std::string_view text) {
  const double number = parse_number(text);
  if (number >= 0) return number;
  throw ArgumentError(fmt::format("{} is negative; expected a number >= 0", text));
}

/// A part of a whole: 0.1 or 10%. What is more than the whole has to be given with %, so that 3 is not taken for 300 %.
/// \param most  in percent at most so many hundreds; 1 or infinity
/// \throws ArgumentError  no number, or none from 0 to 1, or to `most` with %
[[nodiscard]] double parse_share(std::string_view text, double most = 1);

/// A factor of the steps of an iteration, above 1 where they are to overshoot.
/// \throws ArgumentError  no number, or none between 0 and 2
[[nodiscard]] inline double parse_relaxation(std::string_view text) {
  const double factor = parse_number(text);
  if (factor > 0 && factor < 2) return factor;
  throw ArgumentError(fmt::format("{} is not between 0 and 2; expected such a number, 1 for none", text));
}

/// \throws ArgumentError  no whole number, or one below `least`
[[nodiscard]] inline Index parse_count(std::string_view text, Index least) {
  const auto count = number_in<Index>(text);
  if (count && *count >= least) return *count;
  throw ArgumentError(fmt::format("'{}' is no count; expected a whole number, {} at least", text, least));
}

[[nodiscard]] inline Index parse_positive_count(std::string_view text) { return parse_count(text, 1); }
[[nodiscard]] inline Index parse_count_from_0(std::string_view text) { return parse_count(text, 0); }

/// Of random numbers.
[[nodiscard]] inline std::uint64_t parse_seed(std::string_view text) {
  if (const auto seed = number_in<std::uint64_t>(text)) return *seed;
  throw ArgumentError(fmt::format("'{}' is no seed; expected a whole number from 0 to 2^64 - 1", text));
}

/// A number of bytes, as "4096" or with a binary unit: "64K", "64M", "1G", "2T", also "64MiB"; or a decimal one:
/// "64MB".
///
/// \throws ArgumentError  naming the text and what was expected; also if it does not fit an Index
[[nodiscard]] Index parse_byte_count(std::string_view text);

/// "8000x6000"
///
/// \throws ArgumentError  if the text is no shape
/// \throws LayoutError    if the matrix has more elements than can be counted
[[nodiscard]] layout::Shape parse_shape(std::string_view text);

/// "identity", "transpose", "conjugate", "conjugate-transpose"
[[nodiscard]] std::string_view name(redistribute::Op op);

/// What an operation can be, for the help.
inline constexpr const char* op_words =
    "identity (default), transpose, conjugate or conjugate-transpose; or N, T, C, H";

/// Also of "N", "T", "C" and "H", in this order: "C" conjugates without transposing.
/// \throws ArgumentError  naming the text and all that it could be
[[nodiscard]] redistribute::Op parse_op(std::string_view text);

/// A number as the command line gives it, before the type of the elements is known: "2", "-0.5", "1e-3", and complex
/// ones "1+2i", "-0.5i", "i", "(1,2)" (with i or j). Kept as text, so that whole numbers of 64 bits stay exact.
class Scalar {
 public:
  /// \throws ArgumentError  if the text is no finite number
  explicit Scalar(std::string_view text);

  /// \throws ArgumentError  if T can't hold the number: a fraction for integers, an imaginary part for reals, too large
  template <io::FileElement T>
  [[nodiscard]] T as() const;

  /// To doubles.
  [[nodiscard]] std::complex<double> rounded() const noexcept { return rounded_; }
  [[nodiscard]] bool is_zero() const noexcept { return rounded_ == 0.0; }
  [[nodiscard]] bool is_one() const noexcept { return rounded_ == 1.0; }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
  std::string real_;  // decimal numbers
  std::string imaginary_;
  std::complex<double> rounded_;
};

[[nodiscard]] inline Scalar parse_scalar(std::string_view text) { return Scalar(text); }

/// \throws ArgumentError  naming the option of a number that elements of type T can't hold
template <io::FileElement T>
void expect_scalars(std::initializer_list<std::pair<const char*, const Scalar&>> scalars) {
  for (const auto& [option, scalar] : scalars) {
    try {
      static_cast<void>(scalar.template as<T>());
    } catch (const ArgumentError& error) {
      throw ArgumentError(fmt::format("{}: {}", option, error.what()));
    }
  }
}

/// --into and --beta belong together.
/// \param matrix  that is added to: "C"
/// \throws UsageError
void expect_into_with_beta(const std::string& into, const Scalar& beta, const char* matrix);

/// Bits per second, written as `tc` takes them: 1gbit, 2.5gbit, 100mbit; also 1000000000.
///
/// \throws ArgumentError  naming the text and what was expected
[[nodiscard]] double parse_link_rate(std::string_view text);

/// The rate of the emulated cluster that this runs on, which is in PLAIT_CLUSTER_RATE; 0 elsewhere.
[[nodiscard]] double emulated_link_rate();

/// "1 Gb/s"
[[nodiscard]] std::string link_rate_text(double bits_per_second);

}  // namespace plait::cli
