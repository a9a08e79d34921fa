// p?gemm against ScaLAPACK's own and a naive reference.
#include <array>
#include <cstdlib>
#include <limits>
#include <utility>

#include <gtest/gtest.h>

#include "shim/scalapack/plan_cache.hpp"
#include "tests/mpi/scalapack/random_case.hpp"

namespace plait::test {
namespace {

// Before the first product: all sizes are to be plait's.
[[maybe_unused]] const int serves_all = setenv("PLAIT_GEMM_FROM", "0", 1);

/// Small whole numbers, all of whose sums are exact, in single precision, too.
template <class T>
T number(int seed, int i, int j) {
  const auto part = [&](int k) { return (seed * 31 + i * 7 + j * 13 + k * 5) % 15 - 7; };
  return scalar<T>(part(0), part(1));
}

struct Shape {
  int m;
  int n;
  int k;
};

/// Where A, B and C lie.
struct Places {
  Place a;
  Place b;
  Place c;
};

class Products : public ::testing::Test {
 public:
  Products() : random_(11), grids_(full_grids(random_)) {}

 protected:
  template <class T>
  void check(const ProcessGrid& grid, std::pair<char, char> trans, T alpha, T beta, const Shape& shape) {
    const auto [m, n, k] = shape;
    const bool a_lies = transposes(trans.first), b_lies = transposes(trans.second);
    check(grid, trans, alpha, beta, shape,
          {random_place(random_, grid, a_lies ? k : m, a_lies ? m : k),
           random_place(random_, grid, b_lies ? n : k, b_lies ? k : n), random_place(random_, grid, m, n)});
  }

  /// Of op(A), op(B) and C, where rows and columns that belong together belong to the same processes, as programs
  /// mostly have them.
  [[nodiscard]] Places places_together(const ProcessGrid& grid, std::pair<char, char> trans, const Shape& shape) {
    const auto [m, n, k] = shape;
    Places at{random_place(random_, grid, m, k), random_place(random_, grid, k, n), random_place(random_, grid, m, n)};
    const auto as_of = [](const Place& from, Place& to, bool rows) {
      (rows ? to.i : to.j) = rows ? from.i : from.j;
      Distribution& d = to.distribution;
      (rows ? d.rows : d.columns) = rows ? from.distribution.rows : from.distribution.columns;
      (rows ? d.block_rows : d.block_columns) = rows ? from.distribution.block_rows : from.distribution.block_columns;
      (rows ? d.first_row : d.first_column) = rows ? from.distribution.first_row : from.distribution.first_column;
    };
    as_of(at.c, at.a, true);
    as_of(at.c, at.b, false);
    if (coin(random_)) at.b.distribution.block_rows = at.a.distribution.block_columns;
    if (transposes(trans.first)) at.a = random_place(random_, grid, k, m);
    if (transposes(trans.second)) at.b = random_place(random_, grid, n, k);
    return at;
  }

  static bool transposes(char letter) { return letter != 'N' && letter != 'n'; }

  template <class T>
  void check(const ProcessGrid& grid, std::pair<char, char> trans, T alpha, T beta, const Shape& shape,
             const Places& places) {
    const auto [m, n, k] = shape;
    const auto [trans_a, trans_b] = trans;
    const Place &a_place = places.a, &b_place = places.b, &c_place = places.c;
    if (!grid.inside()) return;
    SCOPED_TRACE(testing::Message() << trans_a << trans_b << " of " << sizeof(T) << " bytes, alpha " << alpha
                                    << ", beta " << beta << ", " << m << "x" << n << "x" << k << " from "
                                    << to_string(a_place) << " and " << to_string(b_place) << " to "
                                    << to_string(c_place) << " on " << grid.name());
    // What must not be read is NaN.
    const T nan(std::numeric_limits<float>::quiet_NaN());
    const auto filled = [&](const Place& place, int seed, bool is_read) {
      LocalArray<T> array(grid, place.distribution);
      array.for_each([&](int i, int j, T& value) { value = is_read ? number<T>(seed, i, j) : nan; });
      return array;
    };
    LocalArray<T> a = filled(a_place, 1, alpha != T(0));
    LocalArray<T> b = filled(b_place, 2, alpha != T(0));
    LocalArray<T> c = filled(c_place, 3, beta != T(0));
    const auto element = [&](const Place& place, int seed, char letter, int i, int j) {
      if (transposes(letter)) std::swap(i, j);
      const T value = number<T>(seed, place.i - 1 + i, place.j - 1 + j);
      return letter == 'C' || letter == 'c' ? conjugated(value) : value;
    };
    LocalArray<T> expected = c;
    expected.for_each([&, m = m, n = n, k = k, trans_a = trans_a, trans_b = trans_b](int i, int j, T& value) {
      const int row = i - c_place.i + 1;
      const int column = j - c_place.j + 1;
      if (row < 0 || column < 0 || row >= m || column >= n) return;
      T sum(0);
      for (int term = 0; term < k && alpha != T(0); ++term) {
        sum += element(a_place, 1, trans_a, row, term) * element(b_place, 2, trans_b, term, column);
      }
      value = (beta == T(0) ? T(0) : beta * value) + alpha * sum;
    });
    LocalArray<T> by_scalapack = c;
    const auto call = [&, m = m, n = n, k = k, trans_a = trans_a, trans_b = trans_b](auto* gemm,
                                                                                     LocalArray<T>& target) {
      gemm(&trans_a, &trans_b, &m, &n, &k, &alpha, a.data(), &a_place.i, &a_place.j, a.descriptor(), b.data(),
           &b_place.i, &b_place.j, b.descriptor(), &beta, target.data(), &c_place.i, &c_place.j, target.descriptor());
    };
    LocalArray<T> again = c;
    call(Routines<T>::gemm.plait, c);
    EXPECT_EQ(c.differences(expected), 0);
    call(Routines<T>::gemm.plait, again);  // by the plan that is there
    EXPECT_EQ(again.differences(expected), 0) << "the second time";
    call(Routines<T>::gemm.real, by_scalapack);
    EXPECT_EQ(by_scalapack.differences(expected), 0) << "ScaLAPACK's own";
  }

  Shape random_shape() {
    const auto extent = [&] { return uniform(random_, 0, 7) == 0 ? 0 : uniform(random_, 1, 45); };
    return {extent(), extent(), extent()};
  }

  template <class T>
  void check_any(const ProcessGrid& grid) {
    const T scalars[] = {scalar<T>(0, 0), scalar<T>(1, 0), scalar<T>(2, -1)};
    const std::pair<char, char> trans{"NTCntc"[random_() % 6], "NTCntc"[random_() % 6]};
    check<T>(grid, trans, scalars[random_() % 3], scalars[random_() % 3], random_shape());
    const std::pair<char, char> few{"NNnT"[random_() % 4], "NNnC"[random_() % 4]};
    const Shape shape = random_shape();
    check<T>(grid, few, scalars[random_() % 3], scalars[random_() % 3], shape, places_together(grid, few, shape));
  }

  RandomNumbers random_;
  std::vector<std::unique_ptr<ProcessGrid>> grids_;
};

TEST_F(Products, AreScalapacksForAllTransposesAndScalars) {
  const ProcessGrid& grid = *grids_[grids_.size() / 2];
  for (const char trans_a : {'N', 'T', 'C'}) {
    for (const char trans_b : {'N', 'T', 'C'}) {
      for (const auto& [alpha, beta] : {std::pair(0, 0), {0, 1}, {0, 3}, {1, 0}, {2, 1}, {-1, 2}}) {
        using Z = std::complex<double>;
        check<Z>(grid, {trans_a, trans_b}, scalar<Z>(alpha, alpha), scalar<Z>(beta, 0), random_shape());
        if (HasFailure()) return;
      }
    }
  }
}

TEST_F(Products, AreScalapacksOfAnyTypeOnAnyGrid) {
  for (int round = 0; round < rounds(8) && !HasFailure(); ++round) {
    const ProcessGrid& grid = *grids_[random_() % grids_.size()];
    check_any<float>(grid);
    check_any<double>(grid);
    check_any<std::complex<float>>(grid);
    check_any<std::complex<double>>(grid);
  }
}

TEST_F(Products, OfPartsOfOneMatrixAreAddedToAnother) {
  // As factorizations do: the last columns, and a part of them as a factor of its own product, which ScaLAPACK does not
  // promise.
  using T = double;
  for (const ProcessGrid* grid : {grids_[grids_.size() / 2].get(), grids_.back().get()}) {
    const Place all = {{40, 40, 5, 3, 0, grid->columns() - 1, 1}, 1, 1};
    for (const auto& [i, j] : {std::pair(9, 9), {3, 5}}) {  // C apart from A and B; C and B overlap
      LocalArray<T> matrix(*grid, all.distribution);
      matrix.for_each([&](int row, int column, T& value) { value = number<T>(4, row, column); });
      LocalArray<T> expected = matrix;
      const int m = 40 - i + 1, n = 40 - j + 1, k = 8, one = 1;
      expected.for_each([&, i = i, j = j](int row, int column, T& value) {
        if (row < i - 1 || column < j - 1) return;
        for (int term = 0; term < k; ++term) value -= number<T>(4, row, term) * number<T>(4, term, column);
      });
      const T minus = -1, plus = 1;
      Routines<T>::gemm.plait("N", "N", &m, &n, &k, &minus, matrix.data(), &i, &one, matrix.descriptor(), matrix.data(),
                              &one, &j, matrix.descriptor(), &plus, matrix.data(), &i, &j, matrix.descriptor());
      EXPECT_EQ(matrix.differences(expected), 0) << "from (" << i << ", " << j << ") on " << grid->name();
    }
  }
}

TEST_F(Products, WithoutTermsOnlyScale) {
  for (const int beta : {0, 1, 3}) check<double>(*grids_.front(), {'N', 'T'}, 1, beta, {20, 30, 0});
}

TEST_F(Products, AreThoseOfTheProcessesInTheGridOnly) {
  for (const std::unique_ptr<ProcessGrid>& grid : part_grids()) {
    for (int round = 0; round < rounds(2) && !HasFailure(); ++round) {
      check_any<double>(*grid);
      check_any<std::complex<float>>(*grid);
    }
  }
}

TEST(ProductSizes, CountForLessWhereOneExtentIsShort) {
  using shim::scalapack::is_as_large;
  EXPECT_TRUE(is_as_large(128, 128, 128, 128));
  EXPECT_FALSE(is_as_large(128, 127, 128, 128));
  EXPECT_TRUE(is_as_large(512, 64, 64, 128));
  EXPECT_FALSE(is_as_large(2048, 32, 32, 128));
  EXPECT_FALSE(is_as_large(32, 32, 2048, 128));
  EXPECT_FALSE(is_as_large(63, 63, 4226, 128));
  for (const auto& [m, n, k] : {std::array{16384, 32, 32}, {32, 32, 16384}, {32, 16384, 32}, {1024, 1024, 16}}) {
    EXPECT_TRUE(is_as_large(m, n, k, 128)) << m << "x" << n << "x" << k;
  }
  EXPECT_TRUE(is_as_large(1 << 30, 1 << 30, 1 << 30, 1 << 30));
  EXPECT_TRUE(is_as_large(1, 1, 1, 0));
  EXPECT_TRUE(is_as_large(1, 1, 1, 1));
}

// So large that panels travel in several messages, and that memory is not kept.
TEST_F(Products, AreScalapacksForLargeMatrices) {
  const int n = ranks() == 1 ? 150 : 400 / ranks();
  check<float>(*grids_.back(), {'T', 'N'}, 1, 0, {n, 2 * n, 3 * n});
}

}  // namespace
}  // namespace plait::test
