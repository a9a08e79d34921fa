#include "plait/sinkhorn/balance/balance.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/sinkhorn/marginals/matrix_check.hpp"
#include "plait/sinkhorn/scaling/rows.hpp"

#include "mpi/sinkhorn/problem.hpp"
#include "support/message_of.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

using sinkhorn::Balance;
using sinkhorn::Limits;
using sinkhorn::Status;
using ::testing::Each;
using ::testing::EndsWith;
using ::testing::HasSubstr;

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
    return sinkhorn::balance<T>(context, own.const_view(), sum, limits);
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

TEST_F(Balancing, PassesOverBlocksOfZeros) {
  // Two blocks along the diagonal, and empty rows before, between and behind them.
  constexpr Index n = 300;
  WholeProblem whole = symmetric_problem(n, 5);
  const auto block_of = [](Index i) { return i < 10 || i >= 290 || (i >= 120 && i < 200) ? 0 : i < 120 ? 1 : 2; };
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      if (block_of(i) == 0 || block_of(i) != block_of(j)) whole(i, j) = 0;
    }
  }
  const OwnRows<double> own(whole);
  EXPECT_TRUE(own.rows == 0 || sinkhorn::FilledParts(own.const_view()).are_few());
  const Balance found = balanced(whole);
  EXPECT_EQ(found.outcome.status, Status::converged) << found.outcome.reason;
  EXPECT_EQ(found.masked, 100);
  const std::vector<double> sums = sums_of(whole, found.x);
  for (Index i = 0; i < n; ++i) EXPECT_NEAR(sums[static_cast<std::size_t>(i)], block_of(i) == 0 ? 0 : 1, 1e-10);
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
  EXPECT_THAT(found.outcome.reason, HasSubstr("3 of the rows must sum up to 3"));
}

TEST_F(Balancing, SaysThatThereIsNoTotalSupport) {
  const WholeProblem whole{2, 2, {1, 1, 1, 0}, {}, {}};  // the upper left entry has to vanish
  const Balance found = balanced(whole, 1, {.tolerance = 1e-9, .most_iterations = 10});
  EXPECT_EQ(found.outcome.status, Status::iteration_limit);
  EXPECT_THAT(found.outcome.reason, HasSubstr("no total support"));
}

TEST_F(Balancing, IsTheSameOnAllRanks) {
  const Balance found = balanced(symmetric_problem(29, 5));
  std::vector<double> of_rank_zero = found.x;
  MPI_Bcast(of_rank_zero.data(), static_cast<int>(of_rank_zero.size()), MPI_DOUBLE, 0, test_comm());
  EXPECT_EQ(found.x, of_rank_zero);
}

/// Most entries are 0, but not on the diagonals beside the main one; some rows are empty.
WholeProblem thin_symmetric_problem(Index n, std::uint64_t seed, const std::vector<Index>& empty = {}) {
  WholeProblem whole = symmetric_problem(n, seed);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j <= i; ++j) {
      const bool is_kept = i - j < 2 || random_uniform(seed + 5, static_cast<std::uint64_t>(i * n + j)) < 0.15;
      if (!is_kept) whole(i, j) = whole(j, i) = 0;
    }
  }
  for (const Index k : empty) {
    for (Index j = 0; j < n; ++j) whole(k, j) = whole(j, k) = 0;
  }
  return whole;
}

template <class T>
Balance balanced_sparse(mpi::Context& context, const WholeProblem& whole, const Limits& limits) {
  return sinkhorn::balance<T>(context, sparse<T>(whole), 2.5, limits);
}

TEST_F(Balancing, OfASparseMatrixIsThatOfTheDenseOne) {
  for (const Index n : {1, 2, 5, 60}) {
    for (const bool has_empty : {false, true}) {
      SCOPED_TRACE(n);
      const WholeProblem whole =
          thin_symmetric_problem(n, 21, has_empty ? std::vector<Index>{0, n / 2} : std::vector<Index>{});
      const Limits limits{.tolerance = 1e-13, .most_iterations = 100'000};
      const Balance dense = balanced(whole, 2.5, limits);
      const Balance found = balanced_sparse<double>(context, whole, limits);
      EXPECT_EQ(found.outcome.status, dense.outcome.status) << found.outcome.reason;
      EXPECT_EQ(found.masked, dense.masked);
      for (std::size_t i = 0; i < found.x.size(); ++i) EXPECT_NEAR(found.x[i], dense.x[i], 1e-9 * dense.x[i]);
      auto rows = sparse<double>(whole);
      sinkhorn::balance_in_place<double>(rows, found.x);
      sinkhorn::expect_symmetric<double>(context, rows);
      for (Index i = 0; i < rows.rows(); ++i) {
        for (std::size_t k = 0; k < rows.columns_of(i).size(); ++k) {
          const Index row = rows.first_row + i;
          const Index column = rows.columns_of(i)[k];
          const auto expected =
              found.x[static_cast<std::size_t>(row)] * whole(row, column) * found.x[static_cast<std::size_t>(column)];
          EXPECT_NEAR(rows.values_of(i)[k], expected, 1e-14 * expected);
        }
      }
    }
  }
  const WholeProblem whole = thin_symmetric_problem(40, 22);
  EXPECT_EQ(balanced_sparse<float>(context, whole, {.tolerance = 1e-11}).outcome.status, Status::converged);
}

TEST_F(Balancing, OfASparseMatrixSaysWhatSupportThereIsAlsoBesideMaskedRows) {
  // A star of four, and nothing else in nine rows; a path of two with a diagonal entry that has to vanish.
  WholeProblem star{9, 9, std::vector<double>(81), {}, {}};
  for (const Index leaf : {4, 5, 7}) star(2, leaf) = star(leaf, 2) = 1;
  const Balance none = balanced_sparse<double>(context, star, {});
  EXPECT_EQ(none.outcome.status, Status::no_support);
  EXPECT_EQ(none.masked, 5);
  EXPECT_THAT(none.outcome.reason,
              HasSubstr("3 of the rows must sum up to 7.5, and all their entries lie in 1 of the columns"));
  WholeProblem partial{6, 6, std::vector<double>(36), {}, {}};
  partial(3, 3) = partial(3, 5) = partial(5, 3) = 1;
  const Balance found =
      sinkhorn::balance<double>(context, sparse<double>(partial), 1, {.tolerance = 1e-9, .most_iterations = 10});
  EXPECT_EQ(found.outcome.status, Status::iteration_limit);
  EXPECT_THAT(found.outcome.reason, HasSubstr("no total support"));
  EXPECT_THAT(found.outcome.reason, EndsWith("; the entry in row 3, column 3 and 0 others are in no such matrix"));
}

TEST_F(Balancing, OfASparseMatrixRefusesWhatIsNotSymmetric) {
  const auto attempt = [&](const WholeProblem& whole) {
    return [&] { static_cast<void>(balanced_sparse<double>(context, whole, {})); };
  };
  const WholeProblem sound = thin_symmetric_problem(30, 23);
  for (const Index far : {3, 28}) {  // of the same rank and of another one
    WholeProblem whole = sound;
    whole(far, 2) = 0.25;
    whole(2, far) = 0.5;
    EXPECT_THAT(message_of<ArgumentError>(attempt(whole)),
                HasSubstr("the entry in row 2, column " + std::to_string(far) + " is 0.5, that in row " +
                          std::to_string(far) + ", column 2 is 0.25"));
    whole(2, far) = 0;  // it is not there at all
    EXPECT_THAT(message_of<ArgumentError>(attempt(whole)),
                HasSubstr("the entry in row 2, column " + std::to_string(far) + " is 0, that in row " +
                          std::to_string(far) + ", column 2 is 0.25"));
    whole(2, far) = 0.25 * (1 + 1e-7);
    EXPECT_NO_THROW(attempt(whole)());
    whole(2, far) = whole(far, 2) = -1;
    EXPECT_THAT(message_of<ArgumentError>(attempt(whole)), HasSubstr(" is -1, expected a finite number >= 0"));
  }
  // More entries for one rank than go at a time: all of a dense one.
  WholeProblem large = symmetric_problem(900, 24);
  large(899, 1) = 7;
  EXPECT_THAT(message_of<ArgumentError>(attempt(large)), HasSubstr("that in row 899, column 1 is 7"));
}

TEST_F(Balancing, RefusesWhatIsNotSymmetricOrNoMatrixOfThisKind) {
  // Rows of 8 KB go round in several pieces.
  for (const Index n : {7, 1100}) {
    WholeProblem whole = symmetric_problem(n, 6);
    whole(n - 3, 2) = 0.25;
    whole(2, n - 3) = 0.5;
    whole(n - 1, n - 2) += 1;
    EXPECT_THAT(message_of<ArgumentError>([&] { return balanced(whole); }),
                HasSubstr("the entry in row 2, column " + std::to_string(n - 3) + " is 0.5, that in row " +
                          std::to_string(n - 3) + ", column 2 is 0.25, expected a symmetric matrix"));
  }
  WholeProblem nearly = symmetric_problem(9, 7);
  nearly(4, 3) *= 1 + 1e-7;
  EXPECT_EQ(balanced(nearly, 1, {.tolerance = 1e-9}).outcome.status, Status::converged);
  WholeProblem negative = symmetric_problem(9, 8);
  negative(6, 5) = negative(5, 6) = -1;
  EXPECT_THAT(message_of<ArgumentError>([&] { return balanced(negative); }),
              HasSubstr("the entry in row 5, column 6 is -1, expected a finite number >= 0"));
  EXPECT_THAT(message_of<ArgumentError>([&] { return balanced(random_problem(4, 5, 9)); }),
              HasSubstr("the matrix is 4 x 5, expected as many rows as columns"));
  EXPECT_THAT(message_of<ArgumentError>([&] { return balanced(symmetric_problem(3, 10), 0); }),
              HasSubstr("rows are to sum up to 0, expected a finite number > 0"));
}

TEST_F(Balancing, HearsOfRanksThatMeanAnotherSum) {
  if (ranks() == 1) return;
  EXPECT_THAT(message_of<ArgumentError>([&] { return balanced(symmetric_problem(5, 10), rank() == 1 ? 2 : 1); }),
              HasSubstr("rank 1: sum: is 2, but 1 on rank 0"));
}

TEST_F(Balancing, GoesOnWithTheSameBits) {
  WholeProblem whole = symmetric_problem(23, 11);
  for (Index i = 0; i < 23; ++i) whole(i, 9) = whole(9, i) = 0;  // is masked
  const Balance expected = balanced(whole);
  ASSERT_GT(expected.outcome.iterations, 7);
  iterate::Checkpoint kept;
  Limits limits{.tolerance = 1e-13, .most_iterations = 7};
  limits.checkpoints.is_due = [](Index iterations) { return iterations % 3 == 0; };
  limits.checkpoints.keep = [&](const iterate::Checkpoint& state) { kept = state; };
  static_cast<void>(balanced(whole, 1, limits));
  ASSERT_EQ(kept.shared["errors"].size(), 6U);
  Limits on{.tolerance = 1e-13};
  on.checkpoints.from = &kept;
  const Balance resumed = balanced(whole, 1, on);
  EXPECT_EQ(resumed.x, expected.x);
  EXPECT_EQ(resumed.outcome.errors, expected.outcome.errors);
  EXPECT_EQ(resumed.masked, 1);
  EXPECT_THAT(message_of<ArgumentError>([&] { return balanced(symmetric_problem(3, 10), 1, on); }),
              HasSubstr("the state has 23 factors of rows, expected 3"));
  on.most_iterations = 6;
  EXPECT_THAT(message_of<ArgumentError>([&] { return balanced(whole, 1, on); }),
              HasSubstr("limited to 6, expected more than the 6 that were done"));
  if (ranks() == 1) return;
  iterate::Checkpoint shorter = kept;
  shorter.shared["errors"].pop_back();
  on.checkpoints.from = rank() == 1 ? &shorter : &kept;
  EXPECT_THAT(message_of<ArgumentError>([&] { return balanced(whole, 1, on); }),
              HasSubstr("rank 1: iterations of the state: is 5, but 6 on rank 0"));
}

}  // namespace
}  // namespace plait::test
