// p?gemr2d and p?trmr2d against ScaLAPACK's own and a naive reference.

#include <gtest/gtest.h>

#include "tests/mpi/scalapack/random_case.hpp"

namespace plait::test {
namespace {

/// Whether p?trmr2d copies (i, j) of m x n: the trapezoid's long diagonal ends at the last element.
bool in_trapezoid(char uplo, char diag, int m, int n, int i, int j) {
  const int shift = uplo == 'U' ? std::max(m - n, 0) : -std::max(n - m, 0);  // row of the diagonal in column 0
  const bool on_diagonal = i - j == shift;
  if (on_diagonal) return diag == 'N';
  return uplo == 'U' ? i - j < shift : i - j > shift;
}

/// What is copied: all, or a trapezoid.
struct Part {
  char uplo = 'A';
  char diag = 'N';
};

class Copies : public ::testing::Test {
 public:
  Copies()
      : random_(2026), full_(full_grids(random_)), parts_(part_grids()), line_(1, ranks(), ordered(1, ranks(), 'R')) {}

 protected:
  template <class T>
  void check(const ProcessGrid& from, const ProcessGrid& to, const ProcessGrid& all, Part part) {
    const int m = uniform(random_, 0, 60);
    const int n = uniform(random_, 0, 60);
    const Place a_place = random_place(random_, from, m, n);
    const Place b_place = random_place(random_, to, m, n);
    SCOPED_TRACE(testing::Message() << part.uplo << part.diag << " " << m << "x" << n << " from " << to_string(a_place)
                                    << " on " << from.name() << " to " << to_string(b_place) << " on " << to.name()
                                    << ", context of " << all.name());
    LocalArray<T> a(from, a_place.distribution);
    a.for_each([](int i, int j, T& value) { value = exact<T>(1, i, j); });
    LocalArray<T> b(to, b_place.distribution);
    b.for_each([](int i, int j, T& value) { value = exact<T>(2, i, j); });
    LocalArray<T> expected = b;
    expected.for_each([&](int i, int j, T& value) {
      const int row = i - b_place.i + 1;
      const int column = j - b_place.j + 1;
      if (row < 0 || column < 0 || row >= m || column >= n) return;
      if (part.uplo != 'A' && !in_trapezoid(part.uplo, part.diag, m, n, row, column)) return;
      value = exact<T>(1, row + a_place.i - 1, column + a_place.j - 1);
    });
    LocalArray<T> by_scalapack = b;
    const auto call = [&](auto* gemr2d, auto* trmr2d, LocalArray<T>& target) {
      if (part.uplo == 'A') {
        gemr2d(m, n, a.data(), a_place.i, a_place.j, a.descriptor(), target.data(), b_place.i, b_place.j,
               target.descriptor(), all.context());
      } else {
        trmr2d(&part.uplo, &part.diag, m, n, a.data(), a_place.i, a_place.j, a.descriptor(), target.data(), b_place.i,
               b_place.j, target.descriptor(), all.context());
      }
    };
    const int times = coin(random_) ? 1 : 2;  // the second is another path: nothing is planned or agreed on
    for (int k = 0; k < times; ++k) call(Routines<T>::gemr2d.plait, Routines<T>::trmr2d.plait, b);
    EXPECT_EQ(b.differences(expected), 0);
    call(Routines<T>::gemr2d.real, Routines<T>::trmr2d.real, by_scalapack);
    EXPECT_EQ(by_scalapack.differences(expected), 0) << "ScaLAPACK's own";
  }

  void check_type(int type, const ProcessGrid& from, const ProcessGrid& to, const ProcessGrid& all, Part part) {
    switch (type) {
      case 0: return check<std::int32_t>(from, to, all, part);
      case 1: return check<float>(from, to, all, part);
      case 2: return check<std::complex<float>>(from, to, all, part);
      case 3: return check<std::complex<double>>(from, to, all, part);
      default: return check<double>(from, to, all, part);
    }
  }

  const ProcessGrid& any(const std::vector<std::unique_ptr<ProcessGrid>>& grids) {
    return *grids[random_() % grids.size()];
  }
  Part any_part() { return coin(random_) ? Part{} : Part{coin(random_) ? 'U' : 'L', coin(random_) ? 'U' : 'N'}; }

  RandomNumbers random_;
  std::vector<std::unique_ptr<ProcessGrid>> full_, parts_;
  ProcessGrid line_;
};

TEST_F(Copies, AreScalapacksBetweenAllGridsOfAllProcesses) {
  for (const auto& from : full_) {
    for (const auto& to : full_) {
      check<double>(*from, *to, line_, {});
      if (HasFailure()) return;
    }
  }
}

TEST_F(Copies, AreScalapacksBetweenGridsOfSomeProcesses) {
  std::vector<const ProcessGrid*> grids{full_.front().get()};
  for (const auto& grid : parts_) grids.push_back(grid.get());
  for (const ProcessGrid* from : grids) {
    for (const ProcessGrid* to : grids) {
      check<double>(*from, *to, line_, {});
      if (HasFailure()) return;
    }
  }
}

TEST_F(Copies, AreScalapacksOfAnyTypeAndPart) {
  std::vector<std::unique_ptr<ProcessGrid>> all = std::move(parts_);
  for (auto& grid : full_) all.push_back(std::move(grid));
  std::vector<std::unique_ptr<ProcessGrid>> unions;
  for (int rows = 1; rows <= ranks(); ++rows) {
    if (ranks() % rows == 0) {
      unions.push_back(std::make_unique<ProcessGrid>(rows, ranks() / rows, ordered(rows, ranks() / rows, 'C')));
    }
  }
  for (int round = 0; round < rounds(40) && !HasFailure(); ++round) {
    const ProcessGrid& from = any(all);
    const ProcessGrid& to = any(all);
    const ProcessGrid& together = any(unions);
    check_type(round % 5, from, to, together, any_part());
  }
}

TEST_F(Copies, OfOverlappingPartsOfOneArrayReadBeforeTheyWrite) {
  const ProcessGrid& grid = *full_.back();
  const Distribution d{40, 40, 3, 5, 0, 0, 1};
  LocalArray<double> a(grid, d);
  a.for_each([](int i, int j, double& value) { value = exact<double>(1, i, j); });
  LocalArray<double> expected = a;
  expected.for_each([](int i, int j, double& value) {
    if (i >= 5 && j >= 5) value = exact<double>(1, i - 5, j - 5);
  });
  plait_Cpdgemr2d(35, 35, a.data(), 1, 1, a.descriptor(), a.data(), 6, 6, a.descriptor(), grid.context());
  EXPECT_EQ(a.differences(expected), 0);
}

// ScaLAPACK's own does not either, and programs leave what they did not set: then it differs between processes.
TEST_F(Copies, DoNotLookAtTheTypesOfDescriptors) {
  const int n = 20;
  for (const auto& from : {full_.back().get(), static_cast<ProcessGrid*>(&line_)}) {
    LocalArray<double> a(*from, {n, n, 4, 4, 0, 0, 0});
    a.for_each([](int i, int j, double& value) { value = exact<double>(1, i, j); });
    for (const auto& to : full_) {
      LocalArray<double> b(*to, {n, n, 3, 2, 0, 0, 0});
      LocalArray<double> expected = b;
      expected.for_each([](int i, int j, double& value) { value = exact<double>(1, i, j); });
      a.descriptor()[0] = line_.column() == 0 ? 1 : 1000 + line_.column();
      b.descriptor()[0] = line_.column() - 1;
      plait_Cpdgemr2d(n, n, a.data(), 1, 1, a.descriptor(), b.data(), 1, 1, b.descriptor(), line_.context());
      EXPECT_EQ(b.differences(expected), 0) << "from " << from->name() << " to " << to->name();
    }
  }
}

}  // namespace
}  // namespace plait::test
