#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/sinkhorn/marginals/feasibility.hpp"
#include "plait/sinkhorn/scaling/scale.hpp"

#include "mpi/sinkhorn/problem.hpp"
#include "support/message_of.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

using graph::SupportKind;
using layout::SparseRows;
using sinkhorn::Limits;
using sinkhorn::Status;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// A random matrix of which most entries are 0, but not on two diagonals, so that it has total support if it is square.
WholeProblem thin_problem(Index rows, Index columns, std::uint64_t seed) {
  WholeProblem whole = random_problem(rows, columns, seed);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < columns; ++j) {
      const bool is_kept = j == i % columns || j == (i + 1) % columns ||
                           random_uniform(seed + 7, static_cast<std::uint64_t>(i * columns + j)) < 0.2;
      if (!is_kept) whole(i, j) = 0;
    }
  }
  whole.r.clear();
  whole.c.clear();
  return whole;
}

struct Sparse : ::testing::Test {
  mpi::Context context{test_comm()};
};

TEST_F(Sparse, IsScaledAsTheDenseMatrixIs) {
  for (const Index n : {1, 2, 5, 40}) {
    SCOPED_TRACE(n);
    const WholeProblem whole = thin_problem(n, n, 11);
    const OwnRows<double> own(whole);
    auto rows = sparse<double>(whole);
    const auto dense =
        sinkhorn::scale<double, double>(context, own.const_view(), {own.r, whole.c}, {.tolerance = 1e-12});
    const auto scaling = sinkhorn::scale<double, double>(context, rows, {}, {.tolerance = 1e-12});
    EXPECT_EQ(scaling.outcome.status, Status::converged) << scaling.outcome.reason;
    EXPECT_EQ(scaling.outcome.iterations, dense.outcome.iterations);
    for (std::size_t j = 0; j < scaling.v.size(); ++j) EXPECT_NEAR(scaling.v[j] / dense.v[j], 1, 1e-10);
    sinkhorn::plan_in_place<double, double>(rows, scaling.u, scaling.v);
    const auto checked = sinkhorn::checked_marginals(context, rows.rows(), n, {});
    const auto errors = sinkhorn::marginal_sums(context, rows, checked).errors(context);
    EXPECT_LT(errors.rows + errors.columns, 1e-11);
    EXPECT_NEAR(errors.mass, static_cast<double>(n), 1e-10);
  }
}

TEST_F(Sparse, IsScaledInEveryPrecision) {
  const WholeProblem whole = thin_problem(23, 23, 12);
  const auto rows = sparse<float>(whole);
  EXPECT_EQ((sinkhorn::scale<float, float>(context, rows, {}, {.tolerance = 1e-5}).outcome.status), Status::converged);
  EXPECT_EQ((sinkhorn::scale<float, double>(context, rows, {}, {.tolerance = 1e-11}).outcome.status),
            Status::converged);
}

TEST_F(Sparse, SaysWhichEntriesVanish) {
  // A triangle: the diagonal is its only permutation.
  WholeProblem whole{3, 3, {1, 1, 1, 0, 1, 1, 0, 0, 1}, {}, {}};
  const auto partial =
      sinkhorn::scale<double, double>(context, sparse<double>(whole), {}, {.tolerance = 1e-12, .most_iterations = 20});
  EXPECT_EQ(partial.outcome.status, Status::iteration_limit);
  EXPECT_THAT(partial.outcome.reason, HasSubstr("no total support"));
  EXPECT_THAT(partial.outcome.reason, HasSubstr("the entry in row 0, column 1 and 2 others are in no such matrix"));
  whole.entries = {1, 0, 0, 1, 0, 0, 1, 1, 1};
  const auto none = sinkhorn::scale<double, double>(context, sparse<double>(whole), {});
  EXPECT_EQ(none.outcome.status, Status::no_support);
  EXPECT_THAT(none.outcome.reason,
              HasSubstr("2 of the rows must sum up to 2, and all their entries lie in 1 of the columns"));
}

TEST_F(Sparse, FindsProofsWithoutMemoryForADecisionToo) {
  WholeProblem whole{3, 3, {1, 1, 1, 0, 1, 1, 0, 0, 1}, {}, {}};
  const Limits tight{.tolerance = 1e-12, .most_iterations = 20, .most_support_bytes = 100};
  const auto partial = sinkhorn::scale<double, double>(context, sparse<double>(whole), {}, tight);
  EXPECT_EQ(partial.outcome.status, Status::iteration_limit);
  EXPECT_THAT(partial.outcome.reason, AllOf(HasSubstr("no total support"), HasSubstr("was not decided, which takes")));
  whole.entries = {1, 0, 0, 1, 0, 0, 1, 1, 1};
  const auto none = sinkhorn::scale<double, double>(context, sparse<double>(whole), {}, tight);
  EXPECT_EQ(none.outcome.status, Status::no_support);
  EXPECT_THAT(none.outcome.reason,
              HasSubstr("2 of the rows must sum up to 2, and all their entries lie in 1 of the columns"));
}

TEST_F(Sparse, RefusesWhatCanNotBeScaled) {
  WholeProblem whole = thin_problem(6, 6, 13);
  const auto attempt = [&] { static_cast<void>(sinkhorn::scale<double, double>(context, sparse<double>(whole), {})); };
  whole(4, 4) = -1;
  EXPECT_THAT(message_of<ArgumentError>(attempt), HasSubstr("the entry in row 4, column 4 is -1"));
  for (Index j = 0; j < 6; ++j) whole(4, j) = 0;
  EXPECT_THAT(message_of<ArgumentError>(attempt), HasSubstr("row 4 has only zeros"));
  whole = thin_problem(6, 6, 13);
  for (Index i = 0; i < 6; ++i) whole(i, 2) = 0;
  EXPECT_THAT(message_of<ArgumentError>(attempt), HasSubstr("column 2 has only zeros"));
}

/// Whether a small square pattern has a permutation, by trying all.
bool has_permutation(const WholeProblem& whole, Index row = 0, unsigned taken = 0) {
  if (row == whole.rows) return true;
  for (Index j = 0; j < whole.columns; ++j) {
    const bool is_free = whole(row, j) != 0 && ((taken >> static_cast<unsigned>(j)) & 1U) == 0;
    if (is_free && has_permutation(whole, row + 1, taken | (1U << static_cast<unsigned>(j)))) return true;
  }
  return false;
}

TEST_F(Sparse, HasTheSupportThatAllPermutationsTell) {
  int kinds[3] = {};
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    constexpr Index n = 5;
    WholeProblem whole{n, n, {}, {}, {}};
    for (Index i = 0; i < n * n; ++i) {
      whole.entries.push_back(
          random_uniform(seed + 100, static_cast<std::uint64_t>(i)) < 0.35 + 0.15 * static_cast<double>(seed % 3) ? 1
                                                                                                                  : 0);
    }
    bool has_one = false;
    Index vanishing = 0;
    for (std::size_t e = 0; e < whole.entries.size(); ++e) {
      if (whole.entries[e] == 0) continue;
      WholeProblem with = whole;
      const Index row = static_cast<Index>(e) / n;
      const Index column = static_cast<Index>(e) % n;
      for (Index k = 0; k < n; ++k) {
        if (k != column) with(row, k) = 0;
        if (k != row) with(k, column) = 0;
      }
      const bool is_in_one = has_permutation(with);
      has_one = has_one || is_in_one;
      vanishing += is_in_one ? 0 : 1;
    }
    const auto rows = sparse<double>(whole);
    const auto checked = sinkhorn::checked_marginals(context, rows.rows(), n, {});
    const auto found = sinkhorn::support_of(context, rows, checked);
    const auto expected = !has_one ? SupportKind::none : vanishing > 0 ? SupportKind::partial : SupportKind::total;
    ASSERT_EQ(found.kind, expected) << "seed " << seed;
    if (expected == SupportKind::partial) {
      ASSERT_EQ(found.vanishing, vanishing) << "seed " << seed;
    }
    if (expected == SupportKind::none) {
      ASSERT_GT(found.bottleneck.need, found.bottleneck.room) << "seed " << seed;
    }
    if (expected == SupportKind::partial) {
      ASSERT_EQ(found.bottleneck.need, found.bottleneck.room) << "seed " << seed;
    }
    ++kinds[static_cast<int>(found.kind)];
  }
  for (const int count : kinds) EXPECT_GT(count, 3);
}

TEST_F(Sparse, HasRoomInManyColumnsThatHaveNextToNone) {
  // The second row has only columns that all but vanish beside the last one; the first row has all of them.
  constexpr Index n = 1001;  // so that 1000 of them have 1e-9
  const auto found_of = [&](double need) {
    WholeProblem whole{2, n, std::vector<double>(2 * n, 1), {1, need}, std::vector<double>(n, 1e-12)};
    whole(1, n - 1) = 0;
    whole.c.back() = 1 + need - 1e-9;
    const auto rows = sparse<double>(whole);
    const OwnRows<double> own(whole);
    const auto checked = sinkhorn::checked_marginals(context, rows.rows(), n, {own.r, whole.c});
    return sinkhorn::support_of(context, rows, checked).kind;
  };
  EXPECT_EQ(found_of(5e-10), SupportKind::total);
  EXPECT_EQ(found_of(1e-8), SupportKind::none);
}

TEST_F(Sparse, GoesOnWithTheSameBits) {
  const WholeProblem whole = thin_problem(31, 31, 14);
  const auto rows = sparse<double>(whole);
  const auto expected = sinkhorn::scale<double, double>(context, rows, {}, {.tolerance = 1e-12});
  ASSERT_GT(expected.outcome.iterations, 7);
  iterate::Checkpoint kept;
  sinkhorn::Limits limits{.tolerance = 1e-12, .most_iterations = 7};
  limits.checkpoints.is_due = [](Index iterations) { return iterations % 3 == 0; };
  limits.checkpoints.keep = [&](const iterate::Checkpoint& state) { kept = state; };
  static_cast<void>(sinkhorn::scale<double, double>(context, rows, {}, limits));
  ASSERT_EQ(kept.shared["errors"].size(), 6U);
  sinkhorn::Limits on{.tolerance = 1e-12};
  on.checkpoints.from = &kept;
  const auto resumed = sinkhorn::scale<double, double>(context, rows, {}, on);
  EXPECT_EQ(resumed.u, expected.u);
  EXPECT_EQ(resumed.v, expected.v);
  EXPECT_EQ(resumed.outcome.errors, expected.outcome.errors);
  on.most_iterations = 6;
  EXPECT_THAT(message_of<ArgumentError>([&] { return sinkhorn::scale<double, double>(context, rows, {}, on); }),
              HasSubstr("limited to 6, expected more than the 6 that were done"));
}

}  // namespace
}  // namespace plait::test
