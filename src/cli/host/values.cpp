#include "cli/host/values.hpp"

#include <array>
#include <cctype>
#include <cstdlib>
#include <limits>
#include <tuple>

namespace plait::cli {

Index parse_byte_count(std::string_view text) {
  constexpr std::string_view units = "KMGT";
  const auto fail = [&] {
    throw ArgumentError(
        fmt::format("'{}' is no number of bytes; expected one such as 4096, 512K, 64M, 64MB or 2G", text));
  };
  Index count = 0;
  const auto [rest_begin, failure] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (failure != std::errc() || count < 0) fail();
  std::string_view rest = text.substr(static_cast<std::size_t>(rest_begin - text.data()));
  if (rest.empty()) return count;
  const auto unit = units.find(rest.front());
  if (unit == std::string_view::npos) fail();
  rest.remove_prefix(1);
  const bool is_decimal = rest == "B";
  if (!is_decimal && !rest.empty() && rest != "iB") fail();
  for (std::size_t power = 0; power <= unit; ++power) {
    if (__builtin_mul_overflow(count, Index{is_decimal ? 1000 : 1024}, &count)) fail();
  }
  return count;
}

double parse_share(std::string_view text, double most) {
  const bool is_percent = text.ends_with('%');
  const auto number = number_in<double>(text.substr(0, text.size() - (is_percent ? 1 : 0)));
  if (number && *number >= 0 && *number <= (is_percent ? 100 * most : 1)) {
    return is_percent ? *number / 100 : *number;
  }
  throw ArgumentError(
      fmt::format("'{}' is no share; expected {}", text,
                  std::isfinite(most) ? "0 to 1, or 0% to 100%" : "0 to 1, or a percentage, such as 0.03 or 3%"));
}

layout::Shape parse_shape(std::string_view text) {
  const auto cross = std::min(text.find('x'), text.size());
  const auto rows = number_in<Index>(text.substr(0, cross));
  const auto columns = number_in<Index>(text.substr(std::min(cross + 1, text.size())));
  if (!rows || !columns || *rows < 0 || *columns < 0) {
    throw ArgumentError(fmt::format("'{}' is no shape; expected rows x columns, such as 8000x6000", text));
  }
  static_cast<void>(layout::elements({*rows, *columns}));
  return {*rows, *columns};
}

namespace {

constexpr std::array<std::string_view, 4> names{"identity", "transpose", "conjugate", "conjugate-transpose"};
constexpr std::string_view letters = "NTCH";

template <class T>
std::optional<T> number(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);  // which from_chars does not know
  return number_in<T>(text);
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

constexpr double slowest = 1e3;
constexpr double fastest = 1e15;
constexpr std::array<std::pair<char, double>, 4> rate_units{{{'t', 1e12}, {'g', 1e9}, {'m', 1e6}, {'k', 1e3}}};

}  // namespace

std::string_view name(redistribute::Op op) { return names[static_cast<std::size_t>(op)]; }

redistribute::Op parse_op(std::string_view text) {
  if (const auto letter = letters.find(text); text.size() == 1 && letter != std::string_view::npos) {
    return static_cast<redistribute::Op>(letter);
  }
  const auto found = std::ranges::find(names, text);
  if (found == names.end()) {
    throw ArgumentError(fmt::format(
        "'{}' is unknown; expected identity, transpose, conjugate or conjugate-transpose, or N, T, C or H", text));
  }
  return static_cast<redistribute::Op>(found - names.begin());
}

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

void expect_into_with_beta(const std::string& into, const Scalar& beta, const char* matrix) {
  if (into.empty() && !beta.is_zero()) {
    throw UsageError("--beta is {}, but --into is missing: the file of the old {}", beta.text(), matrix);
  }
  if (!into.empty() && beta.is_zero()) {
    throw UsageError("--into is given, but --beta is 0: the old {} would not be read", matrix);
  }
}

#define PLAIT_INSTANTIATE(T) template T Scalar::as<T>() const;
PLAIT_FOR_EACH_DTYPE(PLAIT_INSTANTIATE)
#undef PLAIT_INSTANTIATE

double parse_link_rate(std::string_view text) {
  const auto fail = [&] {
    throw ArgumentError(fmt::format("'{}' is no rate; expected bits per second such as 1gbit or 200mbit", text));
  };
  double rate = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), rate);
  if (failure != std::errc()) fail();
  std::string unit;
  for (const char c : text.substr(static_cast<std::size_t>(end - text.data()))) {
    unit += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  if (!unit.empty() && unit != "bit") {
    const std::string_view prefixed(unit);
    double factor = 0;
    for (const auto& [prefix, scale] : rate_units) {
      if (prefixed.front() == prefix && prefixed.substr(1) == "bit") factor = scale;
    }
    rate *= factor;
  }
  if (!(rate >= slowest && rate <= fastest)) fail();
  return rate;
}

double emulated_link_rate() {
  const char* const rate = std::getenv("PLAIT_CLUSTER_RATE");
  if (rate == nullptr) return 0;
  try {
    return parse_link_rate(rate);
  } catch (const ArgumentError& error) {
    throw ArgumentError(fmt::format("PLAIT_CLUSTER_RATE: {}", error.what()));
  }
}

std::string link_rate_text(double bits_per_second) {
  for (const auto& [prefix, scale] : rate_units) {
    if (bits_per_second < scale) continue;
    const char shown = prefix == 'k' ? 'k' : static_cast<char>(std::toupper(static_cast<unsigned char>(prefix)));
    return fmt::format("{:.4g} {}b/s", bits_per_second / scale, shown);
  }
  return fmt::format("{:.4g} b/s", bits_per_second);
}

}  // namespace plait::cli
