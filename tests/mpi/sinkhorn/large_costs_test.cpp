// Costs may be as large as numbers are, as potentials take up what is common to a row or to a column.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/mpi/collectives.hpp"
#include "plait/sinkhorn/transport/transport.hpp"

#include "mpi/sinkhorn/problem.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

using sinkhorn::Status;
using sinkhorn::Transport;
using sinkhorn::TransportOptions;
using ::testing::HasSubstr;

struct LargeCosts : ::testing::Test {
  mpi::Context context{test_comm()};

  template <class T>
  Transport<T> transport(const OwnRows<T>& own, const WholeProblem& whole, const TransportOptions& options) {
    return sinkhorn::transport<T, T>(context, own.const_view(), {own.r, whole.c}, options);
  }

  template <class T>
  static std::vector<T> plan_in_place(OwnRows<T> own, const TransportOptions& options, const Transport<T>& found) {
    sinkhorn::transport_plan_in_place<T, T>(own.view(), options.epsilon, found.f, found.g, found.offsets);
    std::vector<T> plan;
    for (Index i = 0; i < own.rows; ++i) {
      for (Index j = 0; j < own.columns; ++j) plan.push_back(own.view()(i, j));
    }
    return plan;
  }

  // Rows and columns in turns, in long double, on what the costs are less what does not matter.
  static std::vector<long double> reference(WholeProblem differences, double epsilon) {
    for (double& cost : differences.entries) cost = std::exp(-cost / epsilon);
    return reference_plan(differences, 2000);
  }
};

TEST_F(LargeCosts, of_a_single_pair_have_its_plan) {
  for (const double cost : {1e199, -1e199, 1e300}) {
    const WholeProblem whole{1, 1, {cost}, {1}, {1}};
    const OwnRows<double> own(whole);
    const TransportOptions options{.epsilon = 0.1};
    const auto found = transport(own, whole, options);
    EXPECT_EQ(found.outcome.status, Status::converged) << found.outcome.reason;
    EXPECT_DOUBLE_EQ(found.cost, cost);
    for (const double entry : plan_in_place(own, options, found)) EXPECT_NEAR(entry, 1, 1e-9);
  }
}

TEST_F(LargeCosts, that_are_all_the_same_have_the_plan_of_none) {
  for (const Index rows : {1, 4}) {
    WholeProblem whole = random_problem(rows, 5, 7);
    std::ranges::fill(whole.entries, 1e199);
    const OwnRows<double> own(whole);
    const TransportOptions options{.epsilon = 0.1};
    const auto found = transport(own, whole, options);
    ASSERT_EQ(found.outcome.status, Status::converged) << found.outcome.reason;
    const auto plan = plan_in_place(own, options, found);
    for (Index i = 0; i < own.rows; ++i) {
      for (Index j = 0; j < 5; ++j) {
        EXPECT_NEAR(plan[static_cast<std::size_t>(5 * i + j)],
                    own.r[static_cast<std::size_t>(i)] * whole.c[static_cast<std::size_t>(j)], 1e-8);
      }
    }
    EXPECT_NEAR(found.cost / 1e199, 1, 1e-12);
  }
}

// Small differences, which are exact, on top of what is different for each row and each column.
struct Raised {
  WholeProblem differences = random_problem(6, 7, 11);
  WholeProblem whole;

  Raised() {
    for (double& one : differences.entries) one = std::floor(one * 8) / 4;
    whole = differences;
    for (Index i = 0; i < whole.rows; ++i) {
      for (Index j = 0; j < whole.columns; ++j) {
        whole(i, j) +=
            std::ldexp(1.0, 49) * static_cast<double>(1 + i % 3) + std::ldexp(1.0, 48) * static_cast<double>(j % 2);
      }
    }
  }
};

TEST_F(LargeCosts, have_the_plans_of_their_differences) {
  const Raised raised;
  const OwnRows<double> own(raised.whole);
  const TransportOptions options{.epsilon = 0.5};
  const auto expected = reference(raised.differences, options.epsilon);
  const auto found = transport(own, raised.whole, options);
  ASSERT_EQ(found.outcome.status, Status::converged) << found.outcome.reason;
  const auto expect_plan = [&](const std::vector<double>& plan) {
    for (std::size_t k = 0; k < plan.size(); ++k) {
      EXPECT_NEAR(plan[k], static_cast<double>(expected[static_cast<std::size_t>(own.first * own.columns) + k]), 1e-8);
    }
  };
  expect_plan(plan_in_place(own, options, found));

  std::vector<double> by_rows;
  sinkhorn::for_each_plan_row<double, double>(
      own.const_view(), options.epsilon, found.f, found.g,
      [&](Index, std::span<const double> row) { by_rows.insert(by_rows.end(), row.begin(), row.end()); },
      found.offsets);
  expect_plan(by_rows);

  long double cost = 0;
  for (std::size_t k = 0; k < expected.size(); ++k) cost += expected[k] * raised.whole.entries[k];
  EXPECT_NEAR(found.cost / static_cast<double>(cost), 1, 1e-12);

  const std::vector<sinkhorn::Marginals> twice{{own.r, raised.whole.c}, {own.r, raised.whole.c}};
  for (const auto& one : sinkhorn::transport_batch<double, double>(context, own.const_view(), twice, options)) {
    ASSERT_EQ(one.outcome.status, Status::converged) << one.outcome.reason;
    expect_plan(plan_in_place(own, options, one));
  }
}

TEST_F(LargeCosts, are_refused_where_sums_may_be_missed_on_both_sides_or_differences_are_as_large) {
  WholeProblem whole = random_problem(4, 5, 7);
  std::ranges::fill(whole.entries, 1e199);
  const OwnRows<double> own(whole);
  const auto relaxed = transport(own, whole, {.epsilon = 0.1, .rho = {1, 1}});
  EXPECT_EQ(relaxed.outcome.status, Status::numerical_limit);
  EXPECT_TRUE(relaxed.offsets.empty());
  for (std::size_t k = 0; k < whole.entries.size(); ++k) whole.entries[k] = 1e199 * random_uniform(5, k);
  const OwnRows<double> spread(whole);
  const auto found = transport(spread, whole, {.epsilon = 0.1});
  EXPECT_EQ(found.outcome.status, Status::numerical_limit);
  EXPECT_THAT(found.outcome.reason, HasSubstr("a larger epsilon is needed"));
}

}  // namespace
}  // namespace plait::test
