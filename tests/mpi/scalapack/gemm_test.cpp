// p?gemm against ScaLAPACK's own and a naive reference.
#include <cstdlib>
#include <limits>
#include <utility>

#include <gtest/gtest.h>

#include "tests/mpi/scalapack/random_case.hpp"

namespace plait::test {
namespace {

// Before the first product: all sizes are to be plait's.
[[maybe_unused]] const int serves_all = setenv("PLAIT_GEMM_FROM", "0", 1);

template <class T>
constexpr bool is_complex = requires(T z) { z.imag(); };

template <class T>
T scalar(int real, int imaginary) {
  if constexpr (is_complex<T>) {
    using Real = typename T::value_type;
    return {static_cast<Real>(real), static_cast<Real>(imaginary)};
  } else {
    return static_cast<T>(real);
  }
}

template <class T>
T conjugated(T value) {
  if constexpr (is_complex<T>) {
    return std::conj(value);
  } else {
    return value;
  }
}

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

class Products : public ::testing::Test {
 public:
  Products() : random_(11), grids_(full_grids(random_)) {}

 protected:
  template <class T>
  void check(const ProcessGrid& grid, std::pair<char, char> trans, T alpha, T beta, const Shape& shape) {
    const auto [m, n, k] = shape;
    const auto [trans_a, trans_b] = trans;
    const auto transposes = [](char letter) { return letter != 'N' && letter != 'n'; };
    const Place a_place = transposes(trans_a) ? random_place(random_, grid, k, m) : random_place(random_, grid, m, k);
    const Place b_place = transposes(trans_b) ? random_place(random_, grid, n, k) : random_place(random_, grid, k, n);
    const Place c_place = random_place(random_, grid, m, n);
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

TEST_F(Products, WithoutTermsOnlyScale) {
  for (const int beta : {0, 1, 3}) check<double>(*grids_.front(), {'N', 'T'}, 1, beta, {20, 30, 0});
}

// So large that panels travel in several messages, and that memory is not kept.
TEST_F(Products, AreScalapacksForLargeMatrices) {
  const int n = 400 / ranks();
  check<float>(*grids_.back(), {'T', 'N'}, 1, 0, {n, 2 * n, 3 * n});
}

}  // namespace
}  // namespace plait::test
