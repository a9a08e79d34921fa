#include "plait/sparse/entries.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/mpi/context.hpp"

#include "mpi/sparse/random_matrix.hpp"
#include "support/message_of.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

using sparse::Matrix;
using sparse::Rows;
using ::testing::HasSubstr;

template <class T>
void expect_rows(const Rows<T>& rows, const Whole<T>& whole, const std::vector<Index>& ranges) {
  const Rows<T> expected = whole.rows_of(ranges);
  EXPECT_EQ(rows.offsets, expected.offsets);
  EXPECT_EQ(rows.columns, expected.columns);
  EXPECT_EQ(rows.values, expected.values);
}

template <class Test>
void for_random_matrices(const Test& test) {
  mpi::Context context(test_comm());
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    Random random{seed};
    const Index n = random(0, 30);
    Whole<double> whole = random_matrix<double>(random, n, n, random(0, 4));
    test(context, random, whole, random_ranges(random, n));
  }
}

TEST(SparseEntries, AreAddedToThoseOnTheOtherSideOfTheDiagonal) {
  for_random_matrices([](mpi::Context& context, Random&, const Whole<double>& whole, const std::vector<Index>& ranges) {
    const Matrix<double> a(context, whole.rows_of(ranges));
    for (const double factor : {1., 0., -2.}) {
      Whole<double> expected{whole.rows, whole.rows};
      for (Index row = 0; row < whole.rows; ++row) {
        for (Index column = 0; column < whole.rows; ++column) {
          const auto &one = whole.entry(row, column), &other = whole.entry(column, row);
          if (one || other) expected.entry(row, column) = one.value_or(0) + factor * other.value_or(0);
        }
      }
      expect_rows(sparse::plus_transposed(a, factor), expected, ranges);
    }
  });
}

TEST(SparseEntries, AreComparedWithThoseOnTheOtherSideOfTheDiagonal) {
  for_random_matrices(
      [](mpi::Context& context, Random& random, const Whole<double>& whole, const std::vector<Index>& ranges) {
        const Index n = whole.rows;
        Whole<double> symmetric{n, n};
        for (Index row = 0; row < n; ++row) {
          for (Index column = 0; column <= row; ++column) {
            symmetric.entry(row, column) = symmetric.entry(column, row) = whole.entry(row, column);
          }
        }
        const auto expect_found = [&](const Whole<double>& given) {
          const auto found = sparse::asymmetry_of(Matrix<double>(context, given.rows_of(ranges)));
          for (Index row = 0; row < n; ++row) {
            for (Index column = 0; column < n; ++column) {
              const double value = given.entry(row, column).value_or(0), other = given.entry(column, row).value_or(0);
              if (value == other) continue;
              ASSERT_TRUE(found.has_value());
              EXPECT_EQ(std::pair(found->row, found->column), std::pair(row, column));
              EXPECT_EQ(found->difference, value - other);
              return;
            }
          }
          EXPECT_FALSE(found.has_value());
        };
        expect_found(symmetric);
        expect_found(whole);
        if (n == 0) return;
        symmetric.entry(random(0, n - 1), random(0, n - 1)) = 3;
        expect_found(symmetric);
      });
}

TEST(SparseEntries, MoveWhereRowsAndColumnsGetOtherNumbers) {
  for_random_matrices(
      [](mpi::Context& context, Random& random, const Whole<double>& whole, const std::vector<Index>& ranges) {
        const Index n = whole.rows;
        std::vector<Index> numbers(at(n));
        std::iota(numbers.begin(), numbers.end(), Index{0});
        for (Index i = n - 1; i > 0; --i) std::swap(numbers[at(i)], numbers[at(random(0, i))]);
        const std::vector<Index> new_ranges = random_ranges(random, n);
        const Matrix<double> a(context, whole.rows_of(ranges));
        Whole<double> expected{n, n};
        for (Index row = 0; row < n; ++row) {
          for (Index column = 0; column < n; ++column) {
            expected.entry(numbers[at(row)], numbers[at(column)]) = whole.entry(row, column);
          }
        }
        const Index own = rank();
        const auto rows =
            sparse::renumbered<double>(a, own_part(numbers, ranges), new_ranges[at(own + 1)] - new_ranges[at(own)]);
        expect_rows(rows, expected, new_ranges);
      });
}

TEST(SparseEntries, ConnectRowsInEitherDirection) {
  for_random_matrices([](mpi::Context& context, Random&, const Whole<double>& whole, const std::vector<Index>& ranges) {
    const Index n = whole.rows;
    std::vector<Index> lowest(at(n));
    std::iota(lowest.begin(), lowest.end(), Index{0});
    for (bool changes = true; changes;) {
      changes = false;
      for (Index row = 0; row < n; ++row) {
        for (Index column = 0; column < n; ++column) {
          if (!whole.entry(row, column) || lowest[at(row)] == lowest[at(column)]) continue;
          lowest[at(row)] = lowest[at(column)] = std::min(lowest[at(row)], lowest[at(column)]);
          changes = true;
        }
      }
    }
    const auto found = sparse::components_of(Matrix<double>(context, whole.rows_of(ranges)));
    EXPECT_EQ(found.of, own_part(lowest, ranges));
    Index count = 0;
    for (Index row = 0; row < n; ++row) count += lowest[at(row)] == row ? 1 : 0;
    EXPECT_EQ(found.count, count);
  });
}

TEST(SparseEntries, ThatCantBeMovedAreRefusedOnAllRanks) {
  mpi::Context context(test_comm());
  const Index first = 2 * Index{rank()}, n = 2 * Index{ranks()};
  const Matrix<float> a(context, {{0, 1, 2}, {first, first + 1}, {1, 1}});
  const auto expect_refused = [&](const std::string& text, const std::vector<Index>& numbers, Index own_rows) {
    EXPECT_THAT(message_of<ArgumentError>([&] { static_cast<void>(sparse::renumbered<float>(a, numbers, own_rows)); }),
                HasSubstr(text));
  };
  expect_refused("numbers: row 0 gets -1, expected 0 or more, below", {rank() == 0 ? -1 : first, first + 1}, 2);
  expect_refused("numbers: row 1 gets " + std::to_string(n), {first, rank() == 0 ? n : first + 1}, 2);
  expect_refused("numbers: 2 rows get 0, expected each number once", {first, rank() == 0 ? 0 : first + 1}, 2);
  expect_refused("numbers: 1 given, expected one for each of 2 rows", {first}, 2);
  expect_refused("own_rows: add up to " + std::to_string(n + 1), {first, first + 1}, rank() == 0 ? 3 : 2);
  const Matrix<float> wide(context, {{0}, {}, {}}, 2);
  EXPECT_THAT(message_of<ArgumentError>([&] { static_cast<void>(sparse::plus_transposed(wide)); }),
              HasSubstr("expected a square one"));
  EXPECT_THAT(message_of<ArgumentError>([&] { static_cast<void>(sparse::asymmetry_of(wide)); }), HasSubstr("square"));
  EXPECT_THAT(message_of<ArgumentError>([&] { static_cast<void>(sparse::components_of(wide)); }), HasSubstr("square"));
  if (ranks() == 1) return;
  EXPECT_THAT(
      message_of<ArgumentError>([&] { static_cast<void>(sparse::plus_transposed(a, rank() == 0 ? 1.F : 0.F)); }),
      HasSubstr("factor"));
}

}  // namespace
}  // namespace plait::test
