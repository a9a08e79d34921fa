#include "plait/sinkhorn/balance.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"

#include "mpi/sinkhorn/problem.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

using sinkhorn::Balance;
using sinkhorn::Limits;
using sinkhorn::Status;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

WholeProblem symmetric_problem(Index n, std::uint64_t seed) {
  WholeProblem whole = random_problem(n, n, seed);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < i; ++j) whole(i, j) = whole(j, i);
  }
  whole.r.assign(static_cast<std::size_t>(n), 1);
  whole.c = whole.r;
  return whole;
}

struct Balancing : ::testing::Test {
  mpi::Context context{test_comm()};

  template <class T = double>
  Balance balanced(const WholeProblem& whole, double sum = 1, const Limits& limits = {.tolerance = 1e-13}) {
    const OwnRows<T> own(whole);
    sinkhorn::DenseSymmetricOperand<T> matrix(own.const_view());
    return sinkhorn::balance(context, matrix, sum, limits);
  }
};

/// What the rows of diag(x) A diag(x) sum up to.
std::vector<double> sums_of(const WholeProblem& whole, const std::vector<double>& x) {
  std::vector<double> sums;
  for (Index i = 0; i < whole.rows; ++i) {
    double sum = 0;
    for (Index j = 0; j < whole.columns; ++j) {
      sum += x[static_cast<std::size_t>(i)] * whole(i, j) * x[static_cast<std::size_t>(j)];
    }
    sums.push_back(sum);
  }
  return sums;
}

TEST_F(Balancing, OfAPositiveMatrixIsTheOnlyScalingThereIs) {
  for (const Index n : {1, 2, 3, 17, 64, 131}) {
    SCOPED_TRACE(n);
    const WholeProblem whole = symmetric_problem(n, 1);
    const Balance found = balanced(whole);
    EXPECT_EQ(found.outcome.status, Status::converged) << found.outcome.reason;
    EXPECT_LT(found.outcome.iterations, 100);
    EXPECT_EQ(found.masked, 0);
    const std::vector<long double> reference = reference_plan(whole);  // rows and columns in turns
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) {
        const double entry = found.x[static_cast<std::size_t>(i)] * whole(i, j) * found.x[static_cast<std::size_t>(j)];
        EXPECT_NEAR(entry, static_cast<double>(reference[static_cast<std::size_t>(i * n + j)]), 1e-12);
      }
    }
  }
}

TEST_F(Balancing, KeepsFloatsAndGivesRowsTheSumThatIsAskedFor) {
  const WholeProblem whole = symmetric_problem(40, 2);
  const Balance found = balanced<float>(whole, 7.5);
  EXPECT_EQ(found.outcome.status, Status::converged) << found.outcome.reason;
  EXPECT_THAT(sums_of(whole, found.x), Each(::testing::DoubleNear(7.5, 1e-5)));
}

TEST_F(Balancing, MasksRowsWithoutEntriesAndOnlyThose) {
  WholeProblem whole = symmetric_problem(23, 3);
  for (const Index empty : {0, 9, 22}) {
    for (Index j = 0; j < 23; ++j) whole(empty, j) = whole(j, empty) = 0;
  }
  const Balance found = balanced(whole);
  EXPECT_EQ(found.outcome.status, Status::converged) << found.outcome.reason;
  EXPECT_EQ(found.masked, 3);
  const std::vector<double> sums = sums_of(whole, found.x);
  for (std::size_t i = 0; i < 23; ++i) {
    const bool is_empty = i == 0 || i == 9 || i == 22;
    EXPECT_EQ(found.x[i] == 0, is_empty);
    EXPECT_NEAR(sums[i], is_empty ? 0 : 1, 1e-12);
  }
}

TEST_F(Balancing, DoesNotOscillateWithoutADiagonal) {
  // [[0, 4], [4, 0]] and larger bipartite ones, of which the iteration without the root knows two limits.
  const WholeProblem two{2, 2, {0, 4, 4, 0}, {1, 1}, {1, 1}};
  const Balance found = balanced(two);
  EXPECT_EQ(found.outcome.status, Status::converged) << found.outcome.reason;
  EXPECT_NEAR(found.x[0] * found.x[1], 0.25, 1e-14);
  WholeProblem whole = symmetric_problem(12, 4);
  for (Index i = 0; i < 12; ++i) {
    for (Index j = 0; j < 12; ++j) {
      if ((i < 6) == (j < 6)) whole(i, j) = 0;
    }
  }
  const Balance larger = balanced(whole);
  EXPECT_EQ(larger.outcome.status, Status::converged) << larger.outcome.reason;
  EXPECT_THAT(sums_of(whole, larger.x), Each(::testing::DoubleNear(1, 1e-11)));
}

TEST_F(Balancing, OfNothingConvergesAtOnce) {
  for (const Index n : {0, 5}) {
    const WholeProblem whole{n, n, std::vector<double>(static_cast<std::size_t>(n * n)), {}, {}};
    const Balance found = balanced(whole);
    EXPECT_EQ(found.outcome.status, Status::converged) << found.outcome.reason;
    EXPECT_EQ(found.masked, n);
    EXPECT_THAT(found.x, Each(0));
  }
}

TEST_F(Balancing, ProvesThatThereIsNoSupport) {
  // A star: three rows live in one column.
  const WholeProblem star{4, 4, {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0}, {}, {}};
  const Balance found = balanced(star);
  EXPECT_EQ(found.outcome.status, Status::no_support);
  EXPECT_THAT(found.outcome.reason, HasSubstr("3 of the rows are to sum up to 3"));
}

TEST_F(Balancing, SaysThatThereIsNoTotalSupport) {
  const WholeProblem whole{2, 2, {1, 1, 1, 0}, {}, {}};  // the upper left entry has to vanish
  const Balance found = balanced(whole, 1, {.tolerance = 1e-9, .most_iterations = 300});
  EXPECT_EQ(found.outcome.status, Status::iteration_limit);
  EXPECT_THAT(found.outcome.reason, HasSubstr("no total support"));
}

TEST_F(Balancing, IsTheSameOnAllRanks) {
  const Balance found = balanced(symmetric_problem(29, 5));
  std::vector<double> of_rank_zero = found.x;
  MPI_Bcast(of_rank_zero.data(), static_cast<int>(of_rank_zero.size()), MPI_DOUBLE, 0, test_comm());
  EXPECT_EQ(found.x, of_rank_zero);
}

TEST_F(Balancing, RefusesWhatIsNotSymmetricOrNoMatrixOfThisKind) {
  // Rows of 8 KB go round in several pieces.
  for (const Index n : {7, 1100}) {
    WholeProblem whole = symmetric_problem(n, 6);
    whole(n - 3, 2) = 0.25;
    whole(2, n - 3) = 0.5;
    whole(n - 1, n - 2) += 1;
    EXPECT_THAT([&] { static_cast<void>(balanced(whole)); },
                ThrowsMessage<ArgumentError>(HasSubstr("the entry in row 2, column " + std::to_string(n - 3) +
                                                       " is 0.5, that in row " + std::to_string(n - 3) +
                                                       ", column 2 is 0.25, expected a symmetric matrix")));
  }
  WholeProblem nearly = symmetric_problem(9, 7);
  nearly(4, 3) *= 1 + 1e-7;
  EXPECT_EQ(balanced(nearly, 1, {.tolerance = 1e-9}).outcome.status, Status::converged);
  WholeProblem negative = symmetric_problem(9, 8);
  negative(6, 5) = negative(5, 6) = -1;
  EXPECT_THAT(
      [&] { static_cast<void>(balanced(negative)); },
      ThrowsMessage<ArgumentError>(HasSubstr("the entry in row 5, column 6 is -1, expected a finite number >= 0")));
  EXPECT_THAT([&] { static_cast<void>(balanced(random_problem(4, 5, 9))); },
              ThrowsMessage<ArgumentError>(HasSubstr("the matrix is 4 x 5, expected as many rows as columns")));
  EXPECT_THAT([&] { static_cast<void>(balanced(symmetric_problem(3, 10), 0)); },
              ThrowsMessage<ArgumentError>(HasSubstr("rows are to sum up to 0, expected a finite number > 0")));
}

}  // namespace
}  // namespace plait::test
