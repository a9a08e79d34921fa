#include "reduce_check.hpp"

#include <cstring>
#include <limits>
#include <type_traits>

#include "plait/base/complex.hpp"
#include "plait/base/random.hpp"
#include "plait/simd/reduce/reduce_element.hpp"
#include "plait/simd/reduce/reduce_reference.hpp"
#include "plait/simd/stores.hpp"

#include "guarded.hpp"

namespace plait::simd::test {

namespace {

template <class T>
T from_bits(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// What `bits` choose: a quarter of the numbers is special, a quarter small.
template <class T>
T operand(std::uint64_t bits) {
  const std::uint64_t kind = bits >> 62;
  const std::uint64_t choice = (bits >> 32) % 8;
  if constexpr (is_pair<T>) {
    T pair;
    std::memset(static_cast<void*>(&pair), static_cast<int>(choice), sizeof pair);  // the padding
    pair.value = operand<decltype(pair.value)>(bits);
    pair.index = operand<decltype(pair.index)>(random_bits(bits, 0));
    return pair;
  } else if constexpr (is_complex<T>) {
    using Real = typename T::value_type;
    return T(operand<Real>(bits), operand<Real>(random_bits(bits, 0)));
  } else if constexpr (std::is_same_v<T, long double>) {
    return operand<double>(bits);
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return to_bfloat16(operand<float>(bits));
  } else if constexpr (std::is_same_v<T, Float16>) {
    constexpr std::uint16_t special[] = {0, 0x8000, 0x7c00, 0xfc00, 0x7e01, 0x0001, 0x7bff, 0x8400};
    if (kind == 0) return {special[choice]};
    return kind == 1 ? to_float16(static_cast<float>(choice) - 3) : from_bits<T>(bits);
  } else if constexpr (std::is_floating_point_v<T>) {
    using Limits = std::numeric_limits<T>;
    constexpr T special[] = {T(0),          -T(0),         Limits::infinity(),   -Limits::infinity(),
                             Limits::max(), Limits::min(), Limits::denorm_min(), Limits::quiet_NaN()};
    if (kind == 0) return special[choice];
    if (kind == 1) return static_cast<T>(choice) - 3;
    return kind == 2 ? from_bits<T>(bits) : static_cast<T>(random_uniform(bits, 0));
  } else if constexpr (is_logical<T>) {
    return {operand<decltype(T::value)>(bits)};
  } else {
    using Limits = std::numeric_limits<T>;
    constexpr T special[] = {0, 0, 0, Limits::min(), Limits::max(), static_cast<T>(Limits::max() / 2 + 1), 0, 1};
    if (kind == 0) return special[choice];
    return kind == 1 ? static_cast<T>(choice - 3) : from_bits<T>(bits);
  }
}

/// Makes all NaN alike in `count` numbers, since the processors differ in which they give.
template <class T>
void unify_nan(std::byte* numbers, Index count) {
  for (Index i = 0; i < count; ++i, numbers += sizeof(T)) {
    T value;
    std::memcpy(&value, numbers, sizeof value);
    if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
      if (to_float(value) != to_float(value)) value.bits = 0x7fff;
    } else {
      if (value != value) value = std::numeric_limits<T>::quiet_NaN();
    }
    std::memcpy(numbers, &value, sizeof value);
  }
}

void unify_nan(ReduceOperation operation, Element element, std::byte* numbers, Index n) {
  if (operation != ReduceOperation::sum && operation != ReduceOperation::prod) return;
  switch (element) {
    case Element::float16: return unify_nan<Float16>(numbers, n);
    case Element::bfloat16: return unify_nan<BFloat16>(numbers, n);
    case Element::float32: return unify_nan<float>(numbers, n);
    case Element::float64: return unify_nan<double>(numbers, n);
    case Element::complex64: return unify_nan<float>(numbers, 2 * n);
    case Element::complex128: return unify_nan<double>(numbers, 2 * n);
    default: return;
  }
}

/// The operands of one reduction and its result, which may be the one or the other.
enum class Places : unsigned char { apart, result_is_a, result_is_b, all_one };

struct Case {
  ReduceOperation operation;
  Element element;
  Index n;
  Places places;
  const std::byte* a;
  const std::byte* b;
};

/// Runs `kernels` on copies of the operands that lie as the case wants, and returns the result in its surroundings.
Guarded result_of(const Case& reduction, const ReduceKernels& kernels) {
  const Index n = reduction.n;
  const Index bytes = n * size_in_bytes(reduction.element);
  const auto size = static_cast<std::size_t>(bytes);
  Guarded a(bytes, 7 * n, 1);
  Guarded b(bytes, 13 * n + 5, 2);
  Guarded out(bytes, 29 * n, 3);
  if (size > 0) {
    std::memcpy(a.data(), reduction.a, size);
    std::memcpy(b.data(), reduction.b, size);
  }
  switch (reduction.places) {
    case Places::apart: kernels.combine(n, a.data(), b.data(), out.data()); break;
    case Places::result_is_a:
      kernels.combine(n, a.data(), b.data(), a.data());
      std::swap(a, out);
      break;
    case Places::result_is_b:
      kernels.reduce(n, a.data(), b.data());
      std::swap(b, out);
      break;
    case Places::all_one:
      kernels.reduce(n, a.data(), a.data());
      std::swap(a, out);
      break;
  }
  unify_nan(reduction.operation, reduction.element, out.data(), n);
  return out;
}

std::string compare(const Case& reduction, Isa isa) {
  const auto expected = result_of(reduction, reduce_reference(reduction.operation, reduction.element));
  const auto result = result_of(reduction, {reduce_kernel(reduction.operation, reduction.element, isa),
                                            combine_kernel(reduction.operation, reduction.element, isa)});
  if (result == expected) return {};
  const auto width = static_cast<std::size_t>(size_in_bytes(reduction.element));
  std::string place = "around the result";
  for (Index i = 0; i < reduction.n; ++i) {
    const auto at = static_cast<std::size_t>(i) * width;
    if (std::memcmp(result.data() + at, expected.data() + at, width) != 0) {
      place = "at element " + std::to_string(i);
      break;
    }
  }
  return std::string(name(isa)) + ": " + std::string(name(reduction.operation)) + " of " + std::to_string(reduction.n) +
         " " + std::string(name(reduction.element)) + ", places " + std::to_string(static_cast<int>(reduction.places)) +
         ": not what the reference gives, " + place;
}

}  // namespace

std::vector<std::byte> operands(Element element, Index n, std::uint64_t seed) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(n * size_in_bytes(element)));
  with_type_of(element, [&]<class T>() {
    for (Index i = 0; i < n; ++i) {
      const T value = operand<T>(random_bits(seed, static_cast<std::uint64_t>(i)));
      std::memcpy(bytes.data() + static_cast<std::size_t>(i) * sizeof(T), &value, sizeof(T));
    }
  });
  return bytes;
}

std::string check_short_reductions(ReduceOperation operation, Element element, Isa isa, Lengths lengths) {
  const Index longest = 300;
  const Index most_places = 32;  // of few elements, which else would be the same ones always
  const auto a = operands(element, longest + most_places, 1);
  const auto b = operands(element, longest + most_places, 2);
  for (Index n = 0; n <= longest; n += lengths == Lengths::all || n < 64 ? 1 : 5) {
    const auto third = n % 2 == 0 ? Places::result_is_a : Places::all_one;
    for (Index first = 0; first < (n <= 4 ? most_places : 1); ++first) {
      const Index offset = first * size_in_bytes(element);
      for (const Places places : {Places::apart, Places::result_is_b, third}) {
        auto wrong = compare({operation, element, n, places, a.data() + offset, b.data() + offset}, isa);
        if (!wrong.empty()) return wrong;
      }
    }
  }
  return {};
}

std::string check_long_reduction(ReduceOperation operation, Element element, Isa isa) {
  const Index n = (streaming_threshold_bytes() + 1000) / size_in_bytes(element) + 3;
  const auto a = operands(element, n, 1);
  const auto b = operands(element, n, 2);
  return compare({operation, element, n, Places::apart, a.data(), b.data()}, isa);
}

std::string check_all_16_bit_floats(Element element, Isa isa) {
  const Index n = 65536;
  std::vector<std::uint16_t> all(n);
  std::vector<std::uint16_t> negated(n);
  std::vector<std::uint16_t> others(n);
  const std::vector<std::uint16_t> zeros(n);
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = static_cast<std::uint16_t>(i);
    negated[i] = static_cast<std::uint16_t>(i ^ 0x8000U);
    others[i] = static_cast<std::uint16_t>(random_bits(1, i));
  }
  for (const ReduceOperation operation :
       {ReduceOperation::max, ReduceOperation::min, ReduceOperation::sum, ReduceOperation::prod}) {
    for (const std::vector<std::uint16_t>& second : {zeros, all, negated, others}) {
      const auto* a = reinterpret_cast<const std::byte*>(all.data());
      const auto* b = reinterpret_cast<const std::byte*>(second.data());
      auto wrong = compare({operation, element, n, Places::apart, a, b}, isa);
      if (!wrong.empty()) return wrong;
    }
  }
  return {};
}

}  // namespace plait::simd::test
