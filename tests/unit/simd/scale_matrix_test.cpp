#include <algorithm>
#include <utility>

#include "plait/base/rounding.hpp"
#include "plait/simd/stores.hpp"
#include "plait/simd/transform/reference.hpp"
#include "plait/simd/transform/scale.hpp"

#include "scale_support.hpp"

namespace plait::simd {
namespace {

using test::factors;
using test::first_difference;
using test::is_complex;
using test::poison;
using test::random_scalar;

template <class T>
struct ScaledPair {
  std::vector<T> source;
  std::vector<T> target;
  std::vector<T> expected;

  ScaledPair(Index source_size, Index target_size, T alpha, T beta)
      : source(static_cast<std::size_t>(source_size)), target(static_cast<std::size_t>(target_size + guard)) {
    for (std::size_t i = 0; i < source.size(); ++i) source[i] = random_scalar<T>(1, i);
    for (std::size_t i = 0; i < target.size(); ++i) target[i] = random_scalar<T>(2, i);
    if (beta == T(0)) std::ranges::fill(target, poison<T>());
    if (alpha == T(0)) std::ranges::fill(source, poison<T>());
    expected = target;
  }

  [[nodiscard]] const T* source_or_null(T alpha) const { return alpha == T(0) ? nullptr : source.data(); }

 private:
  static constexpr Index guard = 8;
};

using Shapes = std::vector<std::pair<Index, Index>>;

template <class T>
class ScaledMatrix : public ::testing::Test {
 protected:
  template <class Body>
  void for_each_scaling(Body body) {
    for (const T alpha : factors<T>()) {
      for (const T beta : factors<T>()) {
        for (const bool conjugate : {false, true}) {
          if (is_complex<T> || !conjugate) body(alpha, conjugate, beta);
        }
      }
    }
  }
};
TYPED_TEST_SUITE(ScaledMatrix, test::Scalars);

TYPED_TEST(ScaledMatrix, IsAddedColumnByColumnAndKeepsWhatLiesBetween) {
  using T = TypeParam;
  for (const auto& [rows, columns] : Shapes{{0, 0}, {0, 3}, {3, 0}, {1, 30}, {33, 1}, {19, 5}}) {
    for (const auto& [source_gap, target_gap] : {std::pair<Index, Index>{0, 0}, {0, 3}, {5, 0}, {2, 7}}) {
      const Index source_ld = std::max(Index{1}, rows + source_gap);
      const Index target_ld = std::max(Index{1}, rows + target_gap);
      this->for_each_scaling([&, rows = rows, columns = columns](T alpha, bool conjugate, T beta) {
        ScaledPair<T> operands(source_ld * columns, target_ld * columns, alpha, beta);
        const T* source = operands.source_or_null(alpha);
        for (Index c = 0; c < columns; ++c) {
          const T* from = source == nullptr ? nullptr : source + c * source_ld;
          scale_add_reference(rows, alpha, from, conjugate, beta, operands.expected.data() + c * target_ld);
        }
        for (const Isa isa : supported_isas()) {
          std::vector<T> target = operands.target;
          matrix_scale_add(rows, columns, alpha, source, alpha == T(0) ? 0 : source_ld, conjugate, beta, target.data(),
                           target_ld, isa);
          ASSERT_EQ(first_difference(target, operands.expected), -1) << rows << " x " << columns << ", " << name(isa);
        }
      });
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(ScaledMatrix, IsAddedTransposedAndKeepsWhatLiesBetween) {
  using T = TypeParam;
  for (const auto& [rows, columns] :
       Shapes{{0, 0}, {0, 3}, {3, 0}, {1, 70}, {70, 1}, {5, 7}, {67, 65}, {17, 130}, {90, 128}}) {
    const Index source_ld = rows + 3;
    const Index target_ld = std::max(Index{1}, columns + (rows + columns) % 2 * 5);
    this->for_each_scaling([&, rows = rows, columns = columns](T alpha, bool conjugate, T beta) {
      ScaledPair<T> operands(source_ld * columns, target_ld * rows, alpha, beta);
      const T* source = operands.source_or_null(alpha);
      transpose_scale_add_reference(rows, columns, alpha, source, source_ld, conjugate, beta, operands.expected.data(),
                                    target_ld);
      for (const Isa isa : supported_isas()) {
        for (const Stores stores : {Stores::automatic, Stores::streaming}) {
          std::vector<T> target = operands.target;
          const ElementRun all{0, 0, rows};
          transpose_scale_add_runs({&all, 1}, columns, alpha, source, alpha == T(0) ? 0 : source_ld, conjugate, beta,
                                   target.data(), target_ld, isa, stores);
          ASSERT_EQ(first_difference(target, operands.expected), -1) << rows << " x " << columns << ", " << name(isa);
        }
      }
    });
    if (this->HasFatalFailure()) return;
  }
}

// Rows in turn that are dealt out as blocks are, and in runs that are empty, short and longer than a tile.
TYPED_TEST(ScaledMatrix, IsAddedTransposedByRuns) {
  using T = TypeParam;
  const std::vector<ElementRun> runs{{3, 40, 33}, {0, 2, 2}, {36, 9, 0}, {36, 81, 1}, {37, 82, 1}, {40, 100, 150}};
  const Index source_ld = 191;
  const Index target_rows = 250;
  for (const Index columns : {1, 67, 140}) {
    const Index target_ld = columns + 5;
    this->for_each_scaling([&](T alpha, bool conjugate, T beta) {
      ScaledPair<T> operands(source_ld * columns, target_ld * target_rows, alpha, beta);
      const T* source = operands.source_or_null(alpha);
      for (const ElementRun& run : runs) {
        transpose_scale_add_reference(run.length, columns, alpha, source == nullptr ? nullptr : source + run.source,
                                      source_ld, conjugate, beta, operands.expected.data() + run.target * target_ld,
                                      target_ld);
      }
      for (const Isa isa : supported_isas()) {
        for (const Stores stores : {Stores::cached, Stores::streaming}) {
          std::vector<T> target = operands.target;
          transpose_scale_add_runs(runs, columns, alpha, source, source_ld, conjugate, beta, target.data(), target_ld,
                                   isa, stores);
          ASSERT_EQ(first_difference(target, operands.expected), -1) << columns << " columns, " << name(isa);
        }
      }
    });
    if (this->HasFatalFailure()) return;
  }
}

template <class T>
class LargeScaledMatrix : public ::testing::Test {};
using SomeScalars = ::testing::Types<std::int8_t, float, double, std::complex<double>>;
TYPED_TEST_SUITE(LargeScaledMatrix, SomeScalars);

TYPED_TEST(LargeScaledMatrix, IsStreamedTransposedToItsTargetOnEveryIsa) {
  using T = TypeParam;
  const T alpha = factors<T>()[2];
  const Index columns = 530;
  const Index rows = streaming_threshold_bytes() / static_cast<Index>(sizeof(T)) / columns + 1;
  const Index colliding = rounded_up(rows * Index{sizeof(T)}, 4096) / Index{sizeof(T)};
  for (const Index source_ld : {rows, colliding}) {
    for (const Index target_ld : {columns, Index{576}}) {  // columns anywhere, and whole lines apart
      ScaledPair<T> operands(source_ld * columns, target_ld * rows, alpha, T(0));
      transpose_scale_add_reference(rows, columns, alpha, operands.source.data(), source_ld, true, T(0),
                                    operands.expected.data() + 1, target_ld);
      for (const Isa isa : supported_isas()) {
        std::vector<T> target = operands.target;
        const ElementRun all{0, 0, rows};
        transpose_scale_add_runs({&all, 1}, columns, alpha, operands.source.data(), source_ld, true, T(0),
                                 target.data() + 1, target_ld, isa);
        ASSERT_EQ(first_difference(target, operands.expected), -1)
            << name(isa) << ", leading dimensions " << source_ld << " and " << target_ld;
      }
    }
  }
}

TEST(TransposeScaleAddReference, AddsToTheMirrorPlace) {
  const std::int32_t source[] = {1, 2, 3, 4, 5, 6};  // 2 x 3
  std::int32_t target[] = {10, 20, 30, 7, 40, 50, 60};
  transpose_scale_add_reference(2, 3, std::int32_t{2}, source, 2, false, std::int32_t{-1}, target, 4);
  EXPECT_EQ(std::vector<std::int32_t>(std::begin(target), std::end(target)),
            (std::vector<std::int32_t>{-8, -14, -20, 7, -36, -42, -48}));
}

}  // namespace
}  // namespace plait::simd
