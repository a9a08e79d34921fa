#include "plait/simd/exact/column_sums.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plait/base/random.hpp"

namespace plait::simd {
namespace {

template <class T>
class ColumnSums : public ::testing::Test {};
using Numbers = ::testing::Types<double, float>;
TYPED_TEST_SUITE(ColumnSums, Numbers);

template <class T>
std::vector<BitRange> ranges_of(const std::vector<T>& x, Index columns) {
  std::vector<BitRange> ranges(at(columns));
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] == 0) continue;
    BitRange& range = ranges[i % at(columns)];
    const Index first = std::ilogb(x[i]);
    range.first = std::max(range.first, first);
    range.last = std::min(range.last, std::max<Index>(-1074, first - std::numeric_limits<T>::digits + 1));
  }
  return ranges;
}

// Numbers of one size, or of as many sizes as `span` binary orders, with zeros among them.
template <class T>
std::vector<T> numbers(Index count, int span, std::uint64_t seed) {
  std::vector<T> result;
  for (Index i = 0; i < count; ++i) {
    const auto place = static_cast<std::uint64_t>(i);
    const int power = static_cast<int>(random_bits(seed + 1, place) % static_cast<std::uint64_t>(span)) - span / 2;
    const auto x = static_cast<T>(random_uniform(seed, place) - 0.5);
    result.push_back(random_bits(seed + 2, place) % 9 == 0 ? T(0) : std::ldexp(x, power));
  }
  return result;
}

TYPED_TEST(ColumnSums, AreExactOnEveryIsa) {
  using T = TypeParam;
  constexpr int widest = std::is_same_v<T, float> ? 200 : 1600;
  for (const Isa isa : supported_isas()) {
    for (const int span : {1, 40, widest}) {
      for (const Index columns : {1, 2, 7, 8, 9, 20}) {
        SCOPED_TRACE(std::string(name(isa)) + ", 2^" + std::to_string(span) + ", " + std::to_string(columns));
        const Index rows = 50;
        const Index pitch = columns + 1;
        auto x = numbers<T>(rows * pitch, span, 3);
        x.pop_back();  // what lies behind the last number is not read
        x.shrink_to_fit();
        std::vector<T> of_columns;
        for (Index i = 0; i < rows; ++i)
          of_columns.insert(of_columns.end(), x.begin() + i * pitch, x.begin() + i * pitch + columns);
        const ColumnWindow window(ranges_of(of_columns, columns), rows);
        std::vector<std::int64_t> sums(at(3 * window.words_of_group() + 1), 0);
        sums.back() = -7;
        std::vector<ExactSum> expected(at(3 * columns));
        const auto move = [&](const std::vector<Index>& which, bool from_another) {
          std::vector<std::int32_t> from;
          std::vector<std::int32_t> to;
          for (const Index row : which) {
            from.push_back(static_cast<std::int32_t>(row % 3));
            to.push_back(static_cast<std::int32_t>(from_another ? row % 2 : row % 3));
          }
          column_sum_kernel<T>(isa)(window, {x.data(), rows, columns, pitch}, which.data(),
                                    from_another ? from.data() : nullptr, to.data(), static_cast<Index>(which.size()),
                                    sums.data());
          for (std::size_t i = 0; i < which.size(); ++i) {
            for (Index c = 0; c < columns; ++c) {
              const auto number = double{x[at(which[i] * pitch + c)]};
              expected[at(to[i] * columns + c)].add(number);
              if (from_another) expected[at(from[i] * columns + c)].add(-number);
            }
          }
        };
        std::vector<Index> all;
        for (Index i = 0; i < rows; ++i) all.push_back(i);
        move(all, false);
        window.carry(sums.data());
        move({3, 4, 5, 6, 11, 49}, true);
        move({}, true);
        for (Index g = 0; g < 3; ++g) {
          if (g == 1) window.carry(sums.data() + window.words_of_group());
          for (Index c = 0; c < columns; ++c) {
            const std::int64_t* const group = sums.data() + g * window.words_of_group();
            const double rounded = expected[at(g * columns + c)].template rounded<double>() + 0.0;
            ASSERT_EQ(window.sum(group, c).template rounded<double>(), rounded) << g << ", " << c;
            ASSERT_EQ(window.rounded(group, c), rounded) << g << ", " << c;
          }
        }
        ASSERT_EQ(sums.back(), -7);
      }
    }
  }
}

TYPED_TEST(ColumnSums, OfOneSizeTakeFewDigits) {
  using T = TypeParam;
  const auto x = numbers<T>(1000, 1, 5);
  EXPECT_LE(ColumnWindow(ranges_of(x, 1), Index{1} << 40).words(), (std::is_same_v<T, float> ? 3 : 4));
}

TYPED_TEST(ColumnSums, OfColumnsOfVeryDifferentSizesKeepTheirSigns) {
  using T = TypeParam;
  constexpr int large = std::is_same_v<T, float> ? 120 : 890;
  const std::vector<T> x{std::ldexp(T(-1), large), std::numeric_limits<T>::denorm_min(), std::ldexp(T(1), -100),
                         std::ldexp(T(-1), large)};
  const ColumnWindow window(ranges_of(x, 2), 2);
  std::vector<std::int64_t> sums(at(window.words_of_group()), 0);
  const std::vector<Index> rows{0, 1};
  const std::vector<std::int32_t> to{0, 0};
  column_sum_kernel<T>()(window, {x.data(), 2, 2, 2}, rows.data(), nullptr, to.data(), 2, sums.data());
  window.carry(sums.data());
  EXPECT_EQ(window.sum(sums.data(), 0).template rounded<T>(), std::ldexp(T(-1), large));
  EXPECT_EQ(window.sum(sums.data(), 1).template rounded<T>(), std::ldexp(T(-1), large));
}

// Of subnormal and of large numbers, with ties.
TEST(RoundedColumnSums, AreThoseOfExactSums) {
  const std::vector<double> x{0x1p-1074, 0x1.8p-1073,           -0x1p-1022, 0x1.fffffffffffffp-1022,
                              0x1p-1000, -0x1.fffffffffffffp899};
  for (const double number : x) {
    for (const double small : {0x1p-54, 0x1p-53, 0x1.8p-53, -0x1p-54, -0x1p-53}) {
      const std::vector<double> terms{number, number * small, number};
      const ColumnWindow window(ranges_of(terms, 1), 3);
      std::vector<std::int64_t> sums(at(window.words_of_group()), 0);
      const std::vector<Index> rows{0, 1, 2};
      const std::vector<std::int32_t> to{0, 0, 0};
      column_sum_kernel<double>()(window, {terms.data(), 3, 1, 1}, rows.data(), nullptr, to.data(), 3, sums.data());
      window.carry(sums.data());
      EXPECT_EQ(window.rounded(sums.data(), 0), window.sum(sums.data(), 0).rounded<double>())
          << number << ", " << small;
    }
  }
}

}  // namespace
}  // namespace plait::simd
