// p?gemm as it must not be called: it complains as ScaLAPACK's own does, on the same processes, and writes nothing.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/mpi/scalapack/random_case.hpp"

namespace {

/// What ScaLAPACK would have ended the program for: the context and the number of the wrong argument.
std::vector<std::array<int, 2>>& complaints() {
  static std::vector<std::array<int, 2>> all;
  return all;
}

}  // namespace

// In the place of the BLACS's own, which ends the program. The routines return after it.
extern "C" void Cblacs_abort(int context, int code) { complaints().push_back({context, code}); }

namespace plait::test {
namespace {

[[maybe_unused]] const int serves_all_of_them = setenv("PLAIT_GEMM_FROM", "0", 1);

enum Entry { type, grid, rows, columns, block_rows, block_columns, first_row, first_column, leading_dimension };

/// A product of 12 x 12 parts of matrices of 20 x 20 elements, all right.
template <class T>
struct Product {
  explicit Product(const ProcessGrid& on)
      : a(on, {20, 20, 3, 3, 0, 0, 2}), b(on, {20, 20, 3, 3, 0, 0, 2}), c(on, {20, 20, 3, 3, 0, 0, 2}) {
    for (LocalArray<T>* one : {&a, &b, &c}) {
      one->for_each([](int i, int j, T& value) { value = T(i + j % 3); });
    }
  }
  void by(Gemm* gemm) {
    gemm(&trans_a, &trans_b, &m, &n, &k, &alpha, a.data(), &ia, &ja, a.descriptor(), b.data(), &ib, &jb, b.descriptor(),
         &beta, c.data(), &ic, &jc, c.descriptor());
  }

  char trans_a = 'N', trans_b = 'N';
  int m = 12, n = 12, k = 12;
  int ia = 2, ja = 3, ib = 4, jb = 5, ic = 6, jc = 7;
  T alpha = T(1), beta = T(1);
  LocalArray<T> a, b, c;
};

struct Mistake {
  const char* name;
  void (*make)(Product<double>&);
};

const std::vector<Mistake> mistakes{
    {"m", [](Product<double>& of) { of.m = -1; }},
    {"n", [](Product<double>& of) { of.n = -7; }},
    {"k", [](Product<double>& of) { of.k = -1; }},
    {"k, and A and B transposed", [](Product<double>& of) { of.k = -1, of.trans_a = 't', of.trans_b = 'c'; }},
    {"trans of A", [](Product<double>& of) { of.trans_a = 'H'; }},
    {"trans of B", [](Product<double>& of) { of.trans_b = ' '; }},
    {"ia", [](Product<double>& of) { of.ia = 0; }},
    {"ja", [](Product<double>& of) { of.ja = -3; }},
    {"ib", [](Product<double>& of) { of.ib = 0; }},
    {"jb", [](Product<double>& of) { of.jb = 0; }},
    {"ic", [](Product<double>& of) { of.ic = 0; }},
    {"jc", [](Product<double>& of) { of.jc = 0; }},
    {"rows beyond A", [](Product<double>& of) { of.ia = 10; }},
    {"columns beyond A", [](Product<double>& of) { of.ja = 10; }},
    {"rows beyond a transposed A", [](Product<double>& of) { of.trans_a = 'T', of.k = 20, of.ja = 1, of.ib = 1; }},
    {"rows beyond B", [](Product<double>& of) { of.ib = 10; }},
    {"columns beyond B", [](Product<double>& of) { of.jb = 10; }},
    {"rows beyond C", [](Product<double>& of) { of.ic = 10; }},
    {"columns beyond C", [](Product<double>& of) { of.jc = 10; }},
    {"the type of A", [](Product<double>& of) { of.a.descriptor()[type] = 501; }},
    {"rows of A", [](Product<double>& of) { of.a.descriptor()[rows] = -1; }},
    {"columns of B", [](Product<double>& of) { of.b.descriptor()[columns] = -1; }},
    {"a block of A", [](Product<double>& of) { of.a.descriptor()[block_rows] = 0; }},
    {"a block of B", [](Product<double>& of) { of.b.descriptor()[block_columns] = -3; }},
    {"a block of C", [](Product<double>& of) { of.c.descriptor()[block_rows] = 0; }},
    {"RSRC of A", [](Product<double>& of) { of.a.descriptor()[first_row] = 99; }},
    {"CSRC of B", [](Product<double>& of) { of.b.descriptor()[first_column] = -2; }},
    {"RSRC of C", [](Product<double>& of) { of.c.descriptor()[first_row] = -3; }},
    {"the leading dimension of A", [](Product<double>& of) { of.a.descriptor()[leading_dimension] = 0; }},
    {"the leading dimension of C", [](Product<double>& of) { of.c.descriptor()[leading_dimension] = -1; }},
    {"all without elements", [](Product<double>& of) { of.m = 0, of.ia = 0; }},
    {"A, which is not read", [](Product<double>& of) { of.alpha = 0, of.ia = 0; }},
    {"B, which is not read", [](Product<double>& of) { of.k = 0, of.b.descriptor()[block_rows] = 0; }},
    {"two arguments", [](Product<double>& of) { of.n = -1, of.c.descriptor()[block_rows] = 0; }}};

class WrongProducts : public ::testing::Test {
 protected:
  /// The same call by ScaLAPACK and by plait; whether it was complained of.
  template <class Make>
  static bool check(const ProcessGrid& on, const char* name, Make&& make) {
    SCOPED_TRACE(std::string(name) + " on " + on.name());
    Product<double> real(on), ours(on);
    make(real), make(ours);
    LocalArray<double> before = ours.c;
    complaints().clear();
    real.by(Routines<double>::gemm.real);
    const std::vector<std::array<int, 2>> expected = complaints();
    complaints().clear();
    ours.by(Routines<double>::gemm.plait);
    EXPECT_EQ(complaints(), expected);
    EXPECT_EQ(ours.c.differences(real.c), 0);
    if (!expected.empty()) {
      EXPECT_EQ(ours.c.differences(before), 0) << "it went on";
    }
    return !expected.empty();
  }
};

TEST_F(WrongProducts, AreComplainedOfAsByScalapack) {
  RandomNumbers random(3);
  const auto grids = full_grids(random);
  const ProcessGrid& on = *grids[grids.size() / 2];
  for (const Mistake& mistake : mistakes) {
    EXPECT_TRUE(check(on, mistake.name, mistake.make)) << mistake.name;
    if (HasFailure()) return;
  }
}

TEST_F(WrongProducts, OfMatricesOnSeveralGridsAreComplainedOf) {
  const ProcessGrid row(1, ranks(), ordered(1, ranks(), 'R'));
  const ProcessGrid same(1, ranks(), ordered(1, ranks(), 'R'));
  const ProcessGrid column(ranks(), 1, ordered(ranks(), 1, 'R'));
  for (const ProcessGrid* other : {&same, &column}) {
    const int context = other->context();
    EXPECT_TRUE(check(row, "A elsewhere", [&](Product<double>& of) { of.a.descriptor()[grid] = context; }));
    EXPECT_TRUE(check(row, "B elsewhere", [&](Product<double>& of) { of.b.descriptor()[grid] = context; }));
    EXPECT_TRUE(check(row, "C elsewhere", [&](Product<double>& of) { of.c.descriptor()[grid] = context; }));
  }
  EXPECT_TRUE(check(row, "B nowhere", [](Product<double>& of) { of.b.descriptor()[grid] = -1; }));
  EXPECT_FALSE(check(row, "all right", [](Product<double>&) {}));
}

TEST_F(WrongProducts, OfProcessesOutsideTheGridLeaveThoseInsideAlone) {
  for (int inside = 1; inside < ranks(); ++inside) {
    const ProcessGrid some(1, inside, ordered(1, inside, 'R'));
    EXPECT_EQ(check(some, "processes outside", [](Product<double>&) {}), !some.inside());
  }
}

}  // namespace
}  // namespace plait::test
