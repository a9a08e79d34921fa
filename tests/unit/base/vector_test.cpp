#include "plait/base/vector.hpp"

#include <numeric>
#include <span>
#include <vector>

#include <gtest/gtest.h>

namespace {

using plait::ContractViolation;
using plait::Index;
using plait::Vector;

TEST(Vectors, AreSubscriptedByIndex) {
  Vector<int> squares(Index{5});
  for (Index i = 0; i < squares.count(); ++i) squares[i] = static_cast<int>(i * i);
  EXPECT_EQ(squares, (std::vector{0, 1, 4, 9, 16}));
  squares.resize(Index{6}, 7);
  EXPECT_EQ(squares[Index{5}], 7);
  EXPECT_EQ(Vector<int>(Index{2}, 3), (std::vector{3, 3}));
}

TEST(Vectors, GoWhereTheStandardOnesGo) {
  const Vector<int> numbers(std::vector{1, 2, 3});
  const std::span<const int> seen(numbers);
  EXPECT_EQ(std::accumulate(seen.begin(), seen.end(), 0), 6);
  EXPECT_EQ(numbers.count(), 3);
  EXPECT_TRUE(Vector<double>().empty());
}

#if PLAIT_ASSERT_LEVEL >= 1
TEST(Vectors, HaveNoPlacesBesideTheirOwn) {
  const Vector<int> numbers{1, 2, 3};
  EXPECT_THROW(static_cast<void>(numbers[Index{-1}]), ContractViolation);
  EXPECT_THROW(static_cast<void>(numbers[Index{3}]), ContractViolation);
}
#endif

}  // namespace
