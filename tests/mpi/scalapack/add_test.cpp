// p?tran, p?geadd and p?tradd against ScaLAPACK's own and a naive reference.
#include <limits>

#include <gtest/gtest.h>

#include "tests/mpi/scalapack/random_case.hpp"

namespace plait::test {
namespace {

enum class Kind { tran, geadd, tradd };

template <class T>
T nan() {
  return T(std::numeric_limits<float>::quiet_NaN());
}

class Sums : public ::testing::Test {
 public:
  Sums() : random_(7), grids_(full_grids(random_)) {}

 protected:
  template <class T>
  void check(Kind kind, const ProcessGrid& grid, char trans, char uplo, T alpha, T beta) {
    const int m = uniform(random_, 0, 50);
    const int n = uniform(random_, 0, 50);
    const bool transposes = trans != 'N';
    const Place a_place = random_place(random_, grid, transposes ? n : m, transposes ? m : n);
    const Place c_place = random_place(random_, grid, m, n);
    SCOPED_TRACE(testing::Message() << "routine " << static_cast<int>(kind) << " " << trans << uplo << " of "
                                    << sizeof(T) << " bytes, alpha " << alpha << ", beta " << beta << ", " << m << "x"
                                    << n << " from " << to_string(a_place) << " to " << to_string(c_place) << " on "
                                    << grid.name());
    // What must not be read is NaN.
    LocalArray<T> a(grid, a_place.distribution);
    a.for_each([&](int i, int j, T& value) { value = alpha == T(0) ? nan<T>() : exact<T>(1, i, j); });
    LocalArray<T> c(grid, c_place.distribution);
    c.for_each([&](int i, int j, T& value) { value = beta == T(0) ? nan<T>() : exact<T>(2, i, j); });
    LocalArray<T> expected = c;
    expected.for_each([&](int i, int j, T& value) {
      const int row = i - c_place.i + 1;
      const int column = j - c_place.j + 1;
      if (row < 0 || column < 0 || row >= m || column >= n) return;
      if (kind == Kind::tradd && (uplo == 'U' ? row > column : row < column)) return;
      T sum = beta == T(0) ? T(0) : beta * value;
      if (alpha != T(0)) {
        const int a_row = (transposes ? column : row) + a_place.i - 1;
        const int a_column = (transposes ? row : column) + a_place.j - 1;
        const T element = exact<T>(1, a_row, a_column);
        sum += alpha * (trans == 'C' ? conjugated(element) : element);
      }
      value = sum;
    });
    LocalArray<T> by_scalapack = c;
    const auto call = [&](auto* tran, auto* geadd, auto* tradd, LocalArray<T>& target) {
      switch (kind) {
        case Kind::tran:
          return tran(&m, &n, &alpha, a.data(), &a_place.i, &a_place.j, a.descriptor(), &beta, target.data(),
                      &c_place.i, &c_place.j, target.descriptor());
        case Kind::geadd:
          return geadd(&trans, &m, &n, &alpha, a.data(), &a_place.i, &a_place.j, a.descriptor(), &beta, target.data(),
                       &c_place.i, &c_place.j, target.descriptor());
        case Kind::tradd:
          return tradd(&uplo, &trans, &m, &n, &alpha, a.data(), &a_place.i, &a_place.j, a.descriptor(), &beta,
                       target.data(), &c_place.i, &c_place.j, target.descriptor());
      }
    };
    using R = Routines<T>;
    const auto tran = trans == 'C' ? R::tranc : R::tran;
    call(tran.plait, R::geadd.plait, R::tradd.plait, c);
    EXPECT_EQ(c.differences(expected), 0);
    call(tran.real, R::geadd.real, R::tradd.real, by_scalapack);
    EXPECT_EQ(by_scalapack.differences(expected), 0) << "ScaLAPACK's own";
  }

  template <class T>
  void check_all(const ProcessGrid& grid) {
    for (const Kind kind : {Kind::tran, Kind::geadd, Kind::tradd}) {
      const char trans = kind == Kind::tran ? (coin(random_) ? 'T' : 'C') : "NTC"[random_() % 3];
      const char uplo = coin(random_) ? 'U' : 'L';
      const T scalars[] = {scalar<T>(0, 0), scalar<T>(1, 0), scalar<T>(2, -1)};
      check<T>(kind, grid, trans, uplo, scalars[random_() % 3], scalars[random_() % 3]);
    }
  }

  RandomNumbers random_;
  std::vector<std::unique_ptr<ProcessGrid>> grids_;
};

TEST_F(Sums, AreScalapacksForAllScalarsAndTransposes) {
  const ProcessGrid& grid = *grids_[grids_.size() / 2];
  for (const Kind kind : {Kind::tran, Kind::geadd, Kind::tradd}) {
    for (const char trans : {'N', 'T', 'C'}) {
      if (kind == Kind::tran && trans == 'N') continue;
      for (const auto& [alpha, beta] : {std::pair(0, 0), {0, 1}, {0, 3}, {1, 0}, {2, 1}, {3, 0}, {-1, 2}}) {
        const char uplo = coin(random_) ? 'U' : 'L';
        check<double>(kind, grid, trans, uplo, alpha, beta);
        check<std::complex<double>>(kind, grid, trans, uplo, scalar<std::complex<double>>(alpha, 0),
                                    scalar<std::complex<double>>(beta, 0));
        if (HasFailure()) return;
      }
    }
  }
}

TEST_F(Sums, AreScalapacksOfAnyTypeOnAnyGrid) {
  for (int round = 0; round < rounds(8) && !HasFailure(); ++round) {
    const ProcessGrid& grid = *grids_[random_() % grids_.size()];
    check_all<float>(grid);
    check_all<double>(grid);
    check_all<std::complex<float>>(grid);
    check_all<std::complex<double>>(grid);
  }
}

// A type of descriptor that only ScaLAPACK knows, with the extents of the first block: served by ScaLAPACK.
TEST_F(Sums, OfOtherDescriptorsArePassedOn) {
  const ProcessGrid& grid = *grids_.front();
  const int n = 20;
  const int one = 1;
  LocalArray<double> a(grid, {n, n, 4, 4, 0, 0, 0});
  a.for_each([](int i, int j, double& value) { value = exact<double>(1, i, j); });
  LocalArray<double> c = a;
  LocalArray<double> by_scalapack = a;
  const int* const d = a.descriptor();
  const int first_block[] = {2, d[1], n, n, d[4], d[5], d[4], d[5], d[6], d[7], d[8]};
  const double alpha = 3;
  const double beta = 2;
  plait_pdtran_(&n, &n, &alpha, a.data(), &one, &one, first_block, &beta, c.data(), &one, &one, first_block);
  pdtran_(&n, &n, &alpha, a.data(), &one, &one, first_block, &beta, by_scalapack.data(), &one, &one, first_block);
  EXPECT_EQ(c.differences(by_scalapack), 0);
  LocalArray<double> expected = a;
  expected.for_each([](int i, int j, double& value) { value = 3 * exact<double>(1, j, i) + 2 * value; });
  EXPECT_EQ(c.differences(expected), 0);
}

}  // namespace
}  // namespace plait::test
