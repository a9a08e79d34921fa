#include "plait/simd/exact/reproducible_sum.hpp"

#include <algorithm>
#include <cfenv>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <vector>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include <gtest/gtest.h>

#include "addends.hpp"
#include "naive_exact_sum.hpp"

namespace plait::simd {
namespace {

using test::addends;
using test::all_addends;
using test::naive_exact_sum;

template <class T>
constexpr Element element_of = std::same_as<T, float> ? Element::float32 : Element::float64;
template <class T>
constexpr Element complex_element_of = std::same_as<T, float> ? Element::complex64 : Element::complex128;

/// Equal to the last bit, NaNs included.
template <class T>
bool same_bits(T a, T b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

template <class T>
const std::byte* as_bytes(const T* data) {
  return reinterpret_cast<const std::byte*>(data);
}
template <class T>
std::byte* as_bytes(T* data) {
  return reinterpret_cast<std::byte*>(data);
}

/// Arrays, elements of which are each of one kind: operand k's element i is `rows[k][i]`.
template <class T>
struct Operands {
  Operands(std::span<const test::Addends> kinds, std::size_t operands, std::size_t n, std::uint64_t seed)
      : rows(operands) {
    for (auto& row : rows) row.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      const test::Addends kind = kinds[i % kinds.size()];
      std::vector<T> column = addends<T>(kind, operands, 1000 * seed + i);
      if (i % 3 == 0) std::ranges::reverse(column);
      if (i % 3 == 1) std::rotate(column.begin(), column.begin() + 1, column.end());
      for (std::size_t k = 0; k < operands; ++k) rows[k][i] = column[k];
    }
  }

  [[nodiscard]] std::vector<const std::byte*> pointers() const {
    std::vector<const std::byte*> result;
    for (const auto& row : rows) result.push_back(as_bytes(row.data()));
    return result;
  }

  [[nodiscard]] T naive_sum(std::size_t i) const {
    std::vector<T> column;
    for (const auto& row : rows) column.push_back(row[i]);
    return naive_exact_sum<T>(column);
  }

  std::vector<std::vector<T>> rows;
};

template <class T>
class ReproducibleSum : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(ReproducibleSum, Reals);

/// Each kind by itself, then all of them mixed.
std::vector<std::vector<test::Addends>> mixtures() {
  std::vector<std::vector<test::Addends>> result;
  for (const test::Addends kind : all_addends) result.push_back({kind});
  result.emplace_back(all_addends.begin(), all_addends.end());
  return result;
}

TYPED_TEST(ReproducibleSum, IsTheExactSumRoundedOnceOnEveryIsa) {
  using T = TypeParam;
  for (const auto& kinds : mixtures()) {
    for (const std::size_t operands : {1U, 2U, 3U, 4U, 5U, 8U, 14U, 19U}) {
      const std::size_t n = 91;
      const Operands<T> in(kinds, operands, n, operands);
      std::vector<T> expected(n);
      for (std::size_t i = 0; i < n; ++i) expected[i] = in.naive_sum(i);
      for (const Isa isa : supported_isas()) {
        std::vector<T> sums(n, T(-77));
        (*reproducible_sum_kernel(element_of<T>, isa))(Index{n}, in.pointers(), as_bytes(sums.data()));
        for (std::size_t i = 0; i < n; ++i) {
          ASSERT_TRUE(same_bits(sums[i], expected[i]))
              << name(isa) << ", addends of kind " << static_cast<int>(kinds[i % kinds.size()]) << ", " << operands
              << " operands, element " << i << ": " << sums[i] << " instead of " << expected[i];
        }
      }
    }
  }
}

TYPED_TEST(ReproducibleSum, DependsNeitherOnTheOrderOfOperandsNorOnThePlace) {
  using T = TypeParam;
  for (const auto& kinds : mixtures()) {
    const std::size_t n = 40;
    const Operands<T> in(kinds, 7, n, 1);
    std::vector<const std::byte*> pointers = in.pointers();
    std::vector<T> first(n);
    (*reproducible_sum_kernel(element_of<T>))(Index{n}, pointers, as_bytes(first.data()));
    std::ranges::reverse(pointers);
    std::rotate(pointers.begin(), pointers.begin() + 2, pointers.end());
    for (std::size_t place = 0; place < n; place += 3) {
      std::vector<const std::byte*> from_place;
      for (const std::byte* pointer : pointers) from_place.push_back(pointer + place * sizeof(T));
      std::vector<T> sums(n - place);
      (*reproducible_sum_kernel(element_of<T>))(static_cast<Index>(n - place), from_place, as_bytes(sums.data()));
      for (std::size_t i = place; i < n; ++i) ASSERT_TRUE(same_bits(sums[i - place], first[i]));
    }
  }
}

TYPED_TEST(ReproducibleSum, WritesOnlyItsElementsAndMayTakeTheirPlaceFromAnyOperand) {
  using T = TypeParam;
  for (const Isa isa : supported_isas()) {
    for (std::size_t n = 0; n <= 35; ++n) {
      for (const std::size_t operands : {1U, 2U, 3U, 5U}) {
        const std::size_t target = n % operands;
        Operands<T> in(all_addends, operands, n + 3, n);
        const Operands<T> before = in;
        (*reproducible_sum_kernel(element_of<T>, isa))(static_cast<Index>(n), in.pointers(),
                                                       as_bytes(in.rows[target].data()));
        for (std::size_t i = 0; i < n; ++i) ASSERT_TRUE(same_bits(in.rows[target][i], before.naive_sum(i)));
        for (std::size_t i = n; i < n + 3; ++i) ASSERT_TRUE(same_bits(in.rows[target][i], before.rows[target][i]));
      }
    }
  }
}

/// Rounds up and, where this is known to be possible, flushes subnormal numbers to zero.
class UnusualArithmetic {
 public:
  UnusualArithmetic() {
    std::fesetround(FE_UPWARD);
#if defined(__x86_64__)
    _mm_setcsr(_mm_getcsr() | 0x8040U);
#endif
  }
  ~UnusualArithmetic() { std::fesetenv(&before_); }
  UnusualArithmetic(const UnusualArithmetic&) = delete;
  UnusualArithmetic& operator=(const UnusualArithmetic&) = delete;

 private:
  static std::fenv_t current() {
    std::fenv_t environment;
    std::fegetenv(&environment);
    return environment;
  }
  std::fenv_t before_ = current();
};

TYPED_TEST(ReproducibleSum, IsTheSameWhateverTheCallersArithmeticWhichItLeavesAsItWas) {
  using T = TypeParam;
  for (const auto& kinds : mixtures()) {
    for (const std::size_t operands : {2U, 7U}) {
      const std::size_t n = 50;
      const Operands<T> in(kinds, operands, n, 2);
      std::vector<T> expected(n);
      for (std::size_t i = 0; i < n; ++i) expected[i] = in.naive_sum(i);
      const T expected_of_first = naive_exact_sum<T>(in.rows[0]);
      for (const Isa isa : supported_isas()) {
        std::vector<T> sums(n);
        ExactSum sum;
        T of_first;
        int rounding = 0;
        {
          const UnusualArithmetic arithmetic;
          (*reproducible_sum_kernel(element_of<T>, isa))(Index{n}, in.pointers(), as_bytes(sums.data()));
          add_to<T>(sum, in.rows[0], isa);
          of_first = sum.rounded<T>();
          rounding = std::fegetround();
        }
        EXPECT_EQ(rounding, FE_UPWARD);
        for (std::size_t i = 0; i < n; ++i) ASSERT_TRUE(same_bits(sums[i], expected[i])) << name(isa);
        EXPECT_TRUE(same_bits(of_first, expected_of_first)) << name(isa);
      }
    }
  }
}

TYPED_TEST(ReproducibleSum, SumsUpTheTwoPartsOfAComplexNumber) {
  using T = TypeParam;
  const std::vector<std::complex<T>> in[] = {
      {{1, 2}, {3, 4}, {5, 6}}, {{10, 20}, {30, 40}, {50, 60}}, {{1, 1}, {1, 1}, {1, 1}}};
  const std::vector<const std::byte*> pointers = {as_bytes(in[0].data()), as_bytes(in[1].data()),
                                                  as_bytes(in[2].data())};
  for (const Isa isa : supported_isas()) {
    std::vector<std::complex<T>> out(3);
    (*reproducible_sum_kernel(complex_element_of<T>, isa))(3, pointers, as_bytes(out.data()));
    EXPECT_EQ(out, (std::vector<std::complex<T>>{{12, 23}, {34, 45}, {56, 67}})) << name(isa);
  }
}

TEST(ReproducibleSumKernel, IsThereForRealAndComplexNumbersOnly) {
  for (const Element element : elements()) {
    const bool offered = element == Element::float32 || element == Element::float64 || element == Element::complex64 ||
                         element == Element::complex128;
    EXPECT_EQ(reproducible_sum_kernel(element) != nullptr, offered);
  }
}

TEST(ReproducibleSumKernel, LosesNothingToWhatCancels) {
  const double in[] = {1e300, 1, -1e300};
  const std::vector<const std::byte*> pointers = {as_bytes(&in[0]), as_bytes(&in[1]), as_bytes(&in[2])};
  double out = 0;
  (*reproducible_sum_kernel(Element::float64))(1, pointers, as_bytes(&out));
  EXPECT_EQ(out, 1);
}

TYPED_TEST(ReproducibleSum, OfAnArrayIsTheSameHoweverItIsCutAndOnEveryIsa) {
  using T = TypeParam;
  for (const test::Addends kind : all_addends) {
    for (const std::size_t n : {0U, 1U, 31U, 32U, 1000U, 9001U}) {
      const std::vector<T> all = addends<T>(kind, n, 5 + n);
      const T expected = naive_exact_sum<T>(all);
      ExactSum whole;
      add_to<T>(whole, all, Isa::scalar);
      for (const Isa isa : supported_isas()) {
        const std::string which =
            std::string(name(isa)) + ", kind " + std::to_string(static_cast<int>(kind)) + ", " + std::to_string(n);
        ExactSum sum;
        add_to<T>(sum, all, isa);
        EXPECT_TRUE(same_bits(sum.rounded<T>(), expected))
            << which << ": " << sum.rounded<T>() << " instead of " << expected;
        EXPECT_EQ(sum.state(), whole.state()) << which;

        ExactSum last;
        ExactSum first;
        const auto cut = static_cast<std::ptrdiff_t>(n / 3);
        add_to<T>(first, {all.begin(), all.begin() + cut}, isa);
        add_to<T>(last, {all.begin() + cut, all.end()}, isa);
        last.merge(first);
        EXPECT_TRUE(same_bits(last.rounded<T>(), expected)) << which << " in two";
        EXPECT_EQ(last.state(), whole.state()) << which << " in two";
      }
    }
  }
}

TEST(ExactSum, IsMergedByAddingTheWordsOfStates) {
  for (const test::Addends kind : all_addends) {
    const std::vector<double> all = addends<double>(kind, 500, 3);
    ExactSum::State words{};
    for (std::size_t part = 0; part < 10; ++part) {
      ExactSum sum;
      for (std::size_t i = part; i < all.size(); i += 10) sum.add(all[i]);
      const ExactSum::State& state = sum.state();
      for (std::size_t i = 0; i < words.size(); ++i) words[i] += state[i];
    }
    ExactSum merged;
    merged.set_state(words);
    ExactSum whole;
    add_to<double>(whole, all);
    EXPECT_TRUE(same_bits(merged.rounded<double>(), naive_exact_sum<double>(all)));
    EXPECT_EQ(merged.state(), whole.state());
  }
}

TEST(ExactSum, RoundsTiesToEven) {
  const auto sum_of = [](std::vector<double> addends) {
    ExactSum sum;
    for (const double addend : addends) sum.add(addend);
    return sum.rounded<double>();
  };
  EXPECT_EQ(sum_of({1, 0x1p-53}), 1);
  EXPECT_EQ(sum_of({1, 0x1p-53, 0x1p-1074}), 1 + 0x1p-52);
  EXPECT_EQ(sum_of({1, 0x1p-53, -0x1p-1074}), 1);
  EXPECT_EQ(sum_of({1, 0x1p-52, 0x1p-53}), 1 + 0x1p-51);
  EXPECT_EQ(sum_of({-1, -0x1p-53, -0x1p-1074}), -1 - 0x1p-52);
}

TEST(ExactSum, OverflowsOnlyWhereTheResultDoes) {
  constexpr double largest = std::numeric_limits<double>::max();
  ExactSum sum;
  for (int i = 0; i < 3000; ++i) sum.add(largest);
  EXPECT_EQ(sum.rounded<double>(), std::numeric_limits<double>::infinity());
  for (int i = 0; i < 2999; ++i) sum.add(-largest);
  EXPECT_EQ(sum.rounded<double>(), largest);
  EXPECT_EQ(sum.rounded<float>(), std::numeric_limits<float>::infinity());
  sum.add(0x1p970);  // half a unit in the last place: a tie, and the even neighbour is infinite
  EXPECT_EQ(sum.rounded<double>(), std::numeric_limits<double>::infinity());
  sum.add(-0x1p-1074);
  EXPECT_EQ(sum.rounded<double>(), largest);
}

TEST(ExactSum, RoundsToFloatsWithoutRoundingToDoublesBefore) {
  ExactSum sum;
  sum.add(1);
  sum.add(0x1p-24);
  sum.add(0x1p-80);  // as a double, this would be lost, and the tie would go down
  EXPECT_EQ(sum.rounded<float>(), 1 + 0x1p-23F);
}

TEST(ExactSum, OfNothingIsZero) {
  EXPECT_TRUE(same_bits(ExactSum().rounded<double>(), 0.0));
  ExactSum sum;
  sum.add(-0.0);
  EXPECT_TRUE(same_bits(sum.rounded<double>(), -0.0));
}

}  // namespace
}  // namespace plait::simd
