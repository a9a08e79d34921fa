#include "plait/redistribute/check.hpp"

#include <complex>
#include <limits>

#include <gtest/gtest.h>

#include "plait/base/random.hpp"
#include "plait/mpi/context.hpp"
#include "plait/redistribute/redistribution.hpp"

#include "support/ranks.hpp"
#include "tests/mpi/redistribute/random_case.hpp"

namespace plait::test {
namespace {

using layout::DistributedMatrix;
using layout::Layout;
using layout::Owners;
using redistribute::Check;
using redistribute::Op;
using redistribute::Redistribution;

template <class T>
class RedistributionCheck : public ::testing::Test {};
using CheckedTypes =
    ::testing::Types<std::int8_t, std::uint64_t, float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(RedistributionCheck, CheckedTypes);

// The verdict on an execution whose result `damage` was let loose on.
template <class T, class Damage>
typename Check<T>::Verdict verdict_on(Op op, T alpha, T beta, Damage damage) {
  mpi::Context context(test_comm());
  const Layout from = Layout::rows({61, 47}, ranks());
  const Layout to = Layout::block_cyclic(apply(op, from.shape()), 5, 7, Owners::grid(1, ranks()));
  DistributedMatrix<T> source(from, rank());
  DistributedMatrix<T> target(to, rank());
  source.for_each_element([](Index i, Index j, T& value) { value = element<T>(1, i, j); });
  target.for_each_element([](Index i, Index j, T& value) { value = element<T>(2, i, j); });
  Check<T> check(op, alpha, beta);
  check.read_source(source);
  if (beta != T{0}) check.read_target_before(target);
  Redistribution(context, from, to, op).execute(alpha, source, beta, target);
  target.for_each_element(damage);
  check.read_target_after(target);
  return check.verdict(context);
}

constexpr auto nothing = [](Index, Index, auto&) {};

TYPED_TEST(RedistributionCheck, PassesWhatIsRight) {
  using T = TypeParam;
  using Verdict = typename Check<T>::Verdict;
  for (const Op op : {Op::identity, Op::transpose, Op::conjugate, Op::conjugate_transpose}) {
    EXPECT_EQ(verdict_on<T>(op, T{1}, T{0}, nothing), Verdict::passed);
    EXPECT_EQ(verdict_on<T>(op, T{3}, T{2}, nothing), Verdict::passed);
    EXPECT_EQ(verdict_on<T>(op, T{0}, T{2}, nothing), Verdict::passed);
  }
}

TYPED_TEST(RedistributionCheck, FindsOneWrongElementAndTwoExchangedOnes) {
  using T = TypeParam;
  using Verdict = typename Check<T>::Verdict;
  for (const T beta : {T{0}, T{2}}) {
    const auto one_wrong = [](Index i, Index j, T& value) {
      if (i == 11 && j == 3) value = static_cast<T>(value + T{1});
    };
    EXPECT_EQ(verdict_on<T>(Op::transpose, T{1}, beta, one_wrong), Verdict::failed);
    const auto shifted = [](Index i, Index j, T& value) {
      if (i == 11 && j == 3) value = element<T>(1, 4, 4);
      if (i == 4 && j == 4) value = element<T>(1, 3, 11);
    };
    EXPECT_EQ(verdict_on<T>(Op::transpose, T{1}, beta, shifted), Verdict::failed);
  }
}

// Scalars that round, on enough elements for the rounding of sums to show, and on numbers at both ends of the range.
template <class T>
typename Check<T>::Verdict verdict_on_uniform(Op op, T alpha, T beta, double scale, bool damaged = false) {
  mpi::Context context(test_comm());
  const Layout from = Layout::rows({700, 900}, ranks());
  const Layout to = Layout::block_cyclic(apply(op, from.shape()), 32, 64, Owners::grid(1, ranks()));
  DistributedMatrix<T> source(from, rank());
  DistributedMatrix<T> target(to, rank());
  const auto uniform_at = [scale](std::uint64_t seed, Index i, Index j) {
    return static_cast<T>(random_uniform(seed, static_cast<std::uint64_t>(i * 1000 + j)) * scale);
  };
  source.for_each_element([&](Index i, Index j, T& value) { value = uniform_at(1, i, j); });
  target.for_each_element([&](Index i, Index j, T& value) { value = uniform_at(2, i, j); });
  Check<T> check(op, alpha, beta);
  check.read_source(source);
  if (beta != T{0}) check.read_target_before(target);
  Redistribution(context, from, to, op).execute(alpha, source, beta, target);
  target.for_each_element([&](Index i, Index j, T& value) {
    if (damaged && i == 77 && j == 5) value = value + alpha * static_cast<T>(scale);
  });
  check.read_target_after(target);
  return check.verdict(context);
}

template <class T>
void expect_rounding_is_told_from_errors() {
  using Verdict = typename Check<T>::Verdict;
  for (const Op op : {Op::identity, Op::conjugate_transpose}) {
    for (const auto& [alpha, beta] : {std::pair(0.1, 0.0), {0.3, 0.7}, {1.7, -1.7}}) {
      const auto a = static_cast<T>(alpha);
      const auto b = static_cast<T>(beta);
      EXPECT_EQ(verdict_on_uniform<T>(op, a, b, 1.0), Verdict::passed);
      EXPECT_EQ(verdict_on_uniform<T>(op, a, b, 1.0, true), Verdict::failed);
    }
  }
}

TEST(RedistributionCheckOfFloats, RoundingOfManyElementsPassesAndOneWrongElementOfThemDoesNot) {
  expect_rounding_is_told_from_errors<float>();
  expect_rounding_is_told_from_errors<double>();
  expect_rounding_is_told_from_errors<std::complex<double>>();
}

TEST(RedistributionCheckOfFloats, NumbersAtBothEndsOfTheRangePass) {
  EXPECT_EQ(verdict_on_uniform<double>(Op::transpose, 1e-300, 0, 1.0), Check<double>::Verdict::passed);
  EXPECT_EQ(verdict_on_uniform<double>(Op::transpose, 0.5, 0, 1e-310), Check<double>::Verdict::passed);
  EXPECT_EQ(verdict_on_uniform<double>(Op::transpose, 0.7, 0.7, 1e300), Check<double>::Verdict::passed);
  EXPECT_EQ(verdict_on_uniform<double>(Op::transpose, 1e20, 0, 1e300), Check<double>::Verdict::undecided);
}

TEST(RedistributionCheckOfFloats, CopiesOfNanAreCheckedAndSumsOfThemAreUndecided) {
  const auto make_nan = [](Index i, Index j, double& value) {
    if (i == 1 && j == 1) value = std::numeric_limits<double>::quiet_NaN();
  };
  EXPECT_EQ(verdict_on<double>(Op::identity, 1, 0, make_nan), Check<double>::Verdict::failed);
  mpi::Context context(test_comm());
  const Layout layout = Layout::rows({8, 8}, ranks());
  DistributedMatrix<double> matrix(layout, rank());
  matrix.for_each_element([](Index, Index, double& value) { value = std::numeric_limits<double>::quiet_NaN(); });
  Check<double> copied(Op::identity, 1, 0);
  copied.read_source(matrix);
  copied.read_target_after(matrix);
  EXPECT_EQ(copied.verdict(context), Check<double>::Verdict::passed);
  Check<double> scaled(Op::identity, 2, 0);
  scaled.read_source(matrix);
  scaled.read_target_after(matrix);
  EXPECT_EQ(scaled.verdict(context), Check<double>::Verdict::undecided);
}

// Errors in the highest bit are even multiples of everything: the hardest to see in sums.
TEST(RedistributionCheck, FindsAFlippedHighestBitOfIntegers) {
  Index missed = 0;
  for (Index place = 0; place < 50; ++place) {
    const auto flip = [&](Index i, Index j, std::int8_t& value) {
      if (i == place && j % 40 == 3) value = static_cast<std::int8_t>(value ^ -128);
    };
    using Verdict = Check<std::int8_t>::Verdict;
    EXPECT_EQ(verdict_on<std::int8_t>(Op::identity, 1, 0, flip), Verdict::failed);
    missed += verdict_on<std::int8_t>(Op::identity, 3, 1, flip) == Verdict::passed ? 1 : 0;
  }
  EXPECT_LE(missed, 3);  // one in 256
}

TEST(RedistributionCheck, DoesNotReadWhatDoesNotCount) {
  mpi::Context context(test_comm());
  const Layout rows = Layout::rows({6, 5}, ranks());
  DistributedMatrix<double> nothing_of(rows, rank()), a(rows, rank());
  nothing_of.for_each_element([](Index, Index, double& value) { value = std::numeric_limits<double>::quiet_NaN(); });
  a.for_each_element([](Index, Index, double& value) { value = 0; });
  Check<double> check(Op::identity, 0, 0);
  check.read_source(nothing_of);
  check.read_target_before(nothing_of);
  check.read_target_after(a);
  EXPECT_EQ(check.verdict(context), Check<double>::Verdict::passed);
}

}  // namespace
}  // namespace plait::test
