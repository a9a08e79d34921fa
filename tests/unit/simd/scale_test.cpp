#include "plait/simd/transform/scale.hpp"

#include <algorithm>

#include "plait/simd/transform/reference.hpp"

#include "scale_support.hpp"

namespace plait::simd {
namespace {

using test::factors;
using test::first_difference;
using test::is_complex;
using test::poison;
using test::random_scalar;

template <class T>
std::vector<T> random_vector(Index n, std::uint64_t seed) {
  std::vector<T> values(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = random_scalar<T>(seed, i);
  return values;
}

template <class T>
class ScaleAdd : public ::testing::Test {};
TYPED_TEST_SUITE(ScaleAdd, test::Scalars);

TYPED_TEST(ScaleAdd, GivesTheBitsOfTheReferenceOnEveryIsaForAllLengthsAndPlaces) {
  using T = TypeParam;
  const Index longest = 300;
  const std::vector<T> source = random_vector<T>(longest + 8, 1);
  for (const T alpha : factors<T>()) {
    for (const T beta : factors<T>()) {
      for (const bool conjugate : {false, true}) {
        if (conjugate && (!is_complex<T> || alpha == T(0))) continue;
        std::vector<T> before = random_vector<T>(longest + 16, 2);
        if (beta == T(0)) std::ranges::fill(before, poison<T>());
        for (Index n = 0; n <= longest; ++n) {
          const Index place = n % 8;  // elements before the first one, in source and target
          const T* from = alpha == T(0) ? nullptr : source.data() + (3 * place) % 8;
          std::vector<T> expected = before;
          scale_add_reference(n, alpha, from, conjugate, beta, expected.data() + place);
          for (const Isa isa : supported_isas()) {
            std::vector<T> target = before;
            scale_add(n, alpha, from, conjugate, beta, target.data() + place, isa);
            ASSERT_EQ(first_difference(target, expected), -1)
                << name(isa) << ", " << n << " elements from " << place << " on, alpha "
                << ::testing::PrintToString(alpha) << ", beta " << ::testing::PrintToString(beta)
                << (conjugate ? ", conjugated" : "");
          }
        }
      }
    }
  }
}

TYPED_TEST(ScaleAdd, TreatsRunsLikeVectorsAndNothingElse) {
  using T = TypeParam;
  std::vector<ElementRun> runs;
  Index source_end = 3, target_end = 1;
  for (const Index length : {1, 1, 0, 2, 70, 1, 15, 16, 17, 33, 64, 65, 3}) {
    runs.push_back({source_end, target_end, length});
    source_end += length + 2;
    target_end += length + 1;
  }
  constexpr Index columns = 3;
  const Index source_ld = source_end + 5, target_ld = target_end + 3;
  const std::vector<T> source = random_vector<T>(columns * source_ld, 1);
  for (const T alpha : factors<T>()) {
    for (const T beta : factors<T>()) {
      for (const bool conjugate : {false, true}) {
        std::vector<T> before = random_vector<T>(columns * target_ld, 2);
        if (beta == T(0)) std::ranges::fill(before, poison<T>());
        const T* from = alpha == T(0) ? nullptr : source.data();
        std::vector<T> expected = before;
        for (Index c = 0; c < columns; ++c) {
          for (const ElementRun& run : runs) {
            scale_add_reference(run.length, alpha, from ? from + c * source_ld + run.source : nullptr, conjugate, beta,
                                expected.data() + c * target_ld + run.target);
          }
        }
        for (const Isa isa : supported_isas()) {
          for (const Stores stores : {Stores::automatic, Stores::streaming}) {
            std::vector<T> target = before;
            scale_add_runs<T>(runs, columns, alpha, from, source_ld, conjugate, beta, target.data(), target_ld, isa,
                              stores);
            ASSERT_EQ(first_difference(target, expected), -1)
                << name(isa) << ", alpha " << ::testing::PrintToString(alpha) << ", beta "
                << ::testing::PrintToString(beta) << (conjugate ? ", conjugated" : "")
                << (stores == Stores::streaming ? ", streaming" : "");
          }
        }
      }
    }
  }
}

TYPED_TEST(ScaleAdd, MayReadAndWriteTheSamePlace) {
  using T = TypeParam;
  const T two = static_cast<T>(2);
  for (const Isa isa : supported_isas()) {
    for (const T beta : {T(0), T(1), two}) {
      std::vector<T> values = random_vector<T>(100, 3);
      const std::vector<T> source = values;
      std::vector<T> expected = values;
      scale_add_reference(100, two, source.data(), true, beta, expected.data());
      scale_add(100, two, values.data(), true, beta, values.data(), isa);
      EXPECT_EQ(first_difference(values, expected), -1) << name(isa);
    }
  }
}

TEST(ScaleAddReference, AddsProducts) {
  const double source[] = {1, 2, 4};
  double target[] = {8, 16, 32};
  scale_add_reference(3, 0.5, source, true, -2.0, target);
  EXPECT_EQ(std::vector<double>(std::begin(target), std::end(target)), (std::vector<double>{-15.5, -31, -62}));
}

TEST(ScaleAddReference, MultipliesComplexNumbersByTheTextbookAndConjugatesTheSource) {
  using C = std::complex<double>;
  const C source[] = {C(2, 3), C(-1, 4)};
  C target[] = {C(1, 0), C(0, 1)};
  scale_add_reference(2, C(1, 2), source, true, C(0, 1), target);
  EXPECT_EQ(target[0], C(8, 1) + C(0, 1));    // (1 + 2i)(2 - 3i) = 8 + i
  EXPECT_EQ(target[1], C(7, -6) + C(-1, 0));  // (1 + 2i)(-1 - 4i) = 7 - 6i
}

TEST(ScaleAddReference, LeavesATermOfFactorOneAsItIs) {
  using C = std::complex<double>;
  const double infinity = std::numeric_limits<double>::infinity();
  const C source[] = {C(infinity, -0.0)};  // (1 + 0i) times this would be NaN
  C target[] = {C(0.0, -0.0)};
  scale_add_reference(1, C(1), source, false, C(1), target);
  EXPECT_EQ(target[0], C(infinity, 0));
  EXPECT_TRUE(std::signbit(target[0].imag()));
}

TEST(ScaleAddReference, WrapsIntegers) {
  const std::int16_t source[] = {-32768, 300};
  std::int16_t target[] = {1, -32768};
  scale_add_reference(2, std::int16_t{-1}, source, false, std::int16_t{3}, target);
  EXPECT_EQ(target[0], -32765);                        // 32768 + 3 wraps
  EXPECT_EQ(target[1], -300 - 3 * 32768 + 2 * 65536);  // -98604 wraps
  const std::uint16_t large[] = {65535};
  std::uint16_t result[] = {0};
  scale_add_reference(1, std::uint16_t{65535}, large, false, std::uint16_t{0}, result);
  EXPECT_EQ(result[0], 1);
}

TEST(ScaleAddReference, RoundsAProductBeforeItAdds) {
  const double third = 1.0 / 3;
  const double source[] = {3 + 0x1p-40};
  double target[] = {-1};
  volatile double product = third * source[0];
  scale_add_reference(1, third, source, false, 1.0, target);
  EXPECT_EQ(target[0], product - 1);
}

}  // namespace
}  // namespace plait::simd
