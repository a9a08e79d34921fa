// Several problems together: what they take, what each comes to, and what is said of wrong ones.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/sinkhorn/marginals/feasibility.hpp"
#include "plait/sinkhorn/scaling/scale.hpp"
#include "plait/sinkhorn/transport/barycentre.hpp"
#include "plait/sinkhorn/transport/transport.hpp"

#include "mpi/sinkhorn/counted_collectives.hpp"
#include "mpi/sinkhorn/problem.hpp"
#include "support/message_of.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

using sinkhorn::Domain;
using sinkhorn::Limits;
using sinkhorn::Marginals;
using sinkhorn::Status;
using sinkhorn::TransportOptions;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// Messages and collectives that this rank begins.
struct Taken {
  long collectives = 0;
  Index messages = 0;

  friend bool operator==(const Taken&, const Taken&) = default;
};

std::ostream& operator<<(std::ostream& out, const Taken& taken) {
  return out << taken.collectives << " collectives, " << taken.messages << " messages";
}

struct ManyProblems : ::testing::Test {
  mpi::Context context{test_comm()};
  WholeProblem costs = costs_of(points(11, 1), points(8, 2));
  WholeProblem masses = random_problem(11, 8, 3);
  OwnRows<double> own{masses};

  /// Of the same problem `count` times, which all come to their end at once.
  template <class F>
  Taken taken(std::size_t count, const F& solve) {
    const std::vector<Marginals> marginals(count, {own.r, masses.c});
    context.counters().clear();
    const long before = begun_collectives();
    solve(marginals);
    Taken all{begun_collectives() - before, 0};
    for (const auto& [operation, traffic] : context.counters()) {
      for (const PeerClass peer : peer_classes) all.messages += traffic.sent_to(peer).messages;
    }
    return all;
  }

  template <class F>
  void expect_no_more_for_many(const char* what, const F& solve) {
    static_cast<void>(taken(2, solve));  // memory that is shared comes with the first one
    const Taken of_two = taken(2, solve);
    const Taken of_nine = taken(9, solve);
    EXPECT_EQ(of_nine, of_two) << what;
    EXPECT_GT(of_two.collectives, 4) << what;
  }
};

TEST_F(ManyProblems, TakeNoMoreMessagesThanFew) {
  const OwnRows<double> matrix(costs);
  expect_no_more_for_many("scaling", [&](const auto& marginals) {
    OwnRows<double> positive(costs);
    for (double& entry : positive.elements) entry = std::exp(-std::abs(entry));
    const auto found = sinkhorn::scale_batch<double, double>(context, positive.const_view(), marginals);
    EXPECT_EQ(found.back().outcome.status, Status::converged);
    const auto checked = sinkhorn::checked_marginals_of_each(context, matrix.rows, matrix.columns, marginals);
    const auto errors = sinkhorn::marginal_errors<double, double>(context, positive.const_view(), found, checked);
    EXPECT_LT(errors.back().columns, 1e-8);
  });
  const auto transported = [&](const char* what, const TransportOptions& options, Status expected) {
    expect_no_more_for_many(what, [&](const auto& marginals) {
      const auto found = sinkhorn::transport_batch<double, double>(context, matrix.const_view(), marginals, options);
      EXPECT_EQ(found.back().outcome.status, expected) << found.back().outcome.reason;
      static_cast<void>(sinkhorn::wanted_masses<double>(context, marginals, options.rho, found));
    });
  };
  const sinkhorn::Limits few{.tolerance = 0, .most_iterations = 6};
  transported("factors", {.epsilon = 0.1}, Status::converged);
  transported("factors at their limit", {.epsilon = 0.002, .limits = few}, Status::iteration_limit);
  transported("unbalanced factors", {.epsilon = 0.1, .rho = {0.5, infinity}}, Status::converged);
  transported("factors from a larger epsilon", {.epsilon = 0.1, .first_epsilon = 0.5}, Status::converged);
  transported("logarithms", {.epsilon = 1e-4, .limits = few}, Status::iteration_limit);
  transported("logarithms, unbalanced", {.epsilon = 1e-4, .limits = {.tolerance = 1e-2}, .rho = {0.1, 0.1}},
              Status::converged);
  // Half of the rows reach only the first column, which has too little for them.
  for (Index i = 0; i < 11; i += 2) {
    for (Index j = 1; j < 8; ++j) costs(i, j) = infinity;
  }
  const OwnRows<double> infeasible(costs);
  expect_no_more_for_many("proofs", [&](const auto& marginals) {
    const auto found = sinkhorn::transport_batch<double, double>(context, infeasible.const_view(), marginals,
                                                                 {.epsilon = 0.1, .domain = Domain::logarithmic});
    EXPECT_EQ(found.back().outcome.status, Status::infeasible_marginals) << found.back().outcome.reason;
  });
  const WholeProblem column{11, 1, points(11, 1), {}, {}};
  const OwnRows<double> x(column);
  const auto y = points(8, 2);
  expect_no_more_for_many("points", [&](const auto& marginals) {
    const sinkhorn::PointClouds<double> clouds{x.const_view(), {y.data(), 8, 1, 1, StorageOrder::row_major}};
    static_cast<void>(sinkhorn::transport_batch<double>(context, clouds, marginals, {.epsilon = 0.01, .limits = few}));
  });
}

TEST_F(ManyProblems, AreWhatEachAloneIsHoweverFactorsAreUpdated) {
  costs(3, 4) = infinity;
  const OwnRows<double> matrix(costs);
  std::vector<WholeProblem> problems;
  std::vector<OwnRows<double>> own_masses;
  for (std::size_t k = 0; k < 3; ++k) {
    problems.push_back(random_problem(11, 8, 20 + k));
    if (k == 1) problems[k].r[2] = problems[k].c[5] = 0;
    own_masses.emplace_back(problems[k]);
  }
  const auto expect_alike = [&](TransportOptions options, std::size_t stages) {
    SCOPED_TRACE(std::to_string(options.epsilon) + ", " + std::to_string(options.rho.rows));
    std::vector<Marginals> marginals;
    for (std::size_t k = 0; k < 3; ++k) {
      const bool may_differ = !options.rho.is_balanced();
      if (k == 1 && !may_differ) continue;  // the totals differ
      marginals.push_back({own_masses[k].r, problems[k].c});
    }
    options.limits = {.tolerance = 1e-12};
    const auto found = sinkhorn::transport_batch<double, double>(context, matrix.const_view(), marginals, options);
    options.first_epsilon = options.epsilon;
    for (std::size_t k = 0; k < marginals.size(); ++k) {
      const auto alone = sinkhorn::transport<double, double>(context, matrix.const_view(), marginals[k], options);
      EXPECT_EQ(found[k].outcome.status, Status::converged) << found[k].outcome.reason;
      EXPECT_EQ(found[k].stages.size(), stages);
      EXPECT_EQ(found[k].stages.back().domain, Domain::factors);
      EXPECT_NEAR(found[k].cost, alone.cost, 1e-10);
      EXPECT_NEAR(found[k].primal, alone.primal, 1e-10);
      EXPECT_NEAR(found[k].gap(), 0, 1e-9);
      if (options.rho.is_balanced()) continue;
      for (std::size_t j = 0; j < 8; ++j) {
        EXPECT_EQ(std::isinf(found[k].g[j]), std::isinf(alone.g[j]));
        if (std::isinf(alone.g[j])) continue;
        EXPECT_NEAR(found[k].g[j], alone.g[j], 1e-9);
      }
    }
  };
  expect_alike({.epsilon = 0.05}, 1);
  expect_alike({.epsilon = 0.05, .first_epsilon = 0.8}, 3);
  expect_alike({.epsilon = 0.1, .rho = {0.4, 0.4}}, 1);
  expect_alike({.epsilon = 0.1, .rho = {2, infinity}}, 1);
  expect_alike({.epsilon = 0.05, .first_epsilon = 0.8, .rho = {infinity, 0.2}}, 3);
}

TEST_F(ManyProblems, AreToldOfByTheFirstThatIsWrong) {
  WholeProblem other = masses;
  other.c[3] = -1;
  std::vector<double> heavy = masses.c;
  heavy[0] += 1;
  OwnRows<double> matrix(costs);
  const auto of = [&](std::vector<Marginals> marginals) {
    return [this, &matrix, marginals] {
      static_cast<void>(
          sinkhorn::transport_batch<double, double>(context, matrix.const_view(), marginals, {.epsilon = 1}));
    };
  };
  const Marginals good{own.r, masses.c};
  // The totals are looked at when all values have been, but the first one that is wrong is told of.
  EXPECT_THAT(message_of<ArgumentError>(of({good, {own.r, heavy}, {own.r, other.c}})),
              AllOf(HasSubstr("marginals 1: "), HasSubstr("sum up to 1, those of all")));
  EXPECT_THAT(message_of<ArgumentError>(of({good, good, {own.r, other.c}, {own.r, heavy}})),
              AllOf(HasSubstr("marginals 2: "), HasSubstr("the marginal of column 3 is -1")));
  // The last row, on the last rank that has one, has only forbidden ways; the first problem wants nothing of it.
  for (Index i = 0; i < matrix.rows; ++i) {
    for (Index j = 0; j < 8 && matrix.first + i == 10; ++j) matrix.view()(i, j) = infinity;
  }
  WholeProblem without = masses;
  without.r[10] = 0;
  without.r[0] += masses.r[10];
  const OwnRows<double> part(without);
  EXPECT_THAT(message_of<ArgumentError>(of({{part.r, masses.c}, good, good})),
              AllOf(HasSubstr("marginals 1: "), HasSubstr("row 10 has only costs of +infinity, but is to sum up")));
  // Entries are wrong for all.
  if (matrix.rows > 0 && matrix.first == 0) matrix.view()(0, 5) = std::nan("");
  EXPECT_THAT(message_of<ArgumentError>(of({{part.r, masses.c}, good})),
              AllOf(HasSubstr("marginals 0: "), HasSubstr("row 0, column 5 is nan")));
}

TEST_F(ManyProblems, HaveTheProofsOfEachByItself) {
  WholeProblem whole = random_problem(11, 8, 30);
  for (Index i = 0; i < 3; ++i) {
    for (Index j = 2; j < 8; ++j) whole(i, j) = 0;
  }
  const OwnRows<double> matrix(whole);
  const auto even = random_problem(11, 8, 31);
  auto heavy = even;
  for (std::size_t i = 0; i < 3; ++i) heavy.r[i] *= 10;
  const OwnRows<double> own_even(even);
  const OwnRows<double> own_heavy(heavy);
  const auto total_one = [&](const OwnRows<double>& rows, const WholeProblem& of) {
    sinkhorn::CheckedMarginals marginals;
    marginals.rows = rows.r;
    marginals.columns = of.c;
    for (const double mass : of.r) marginals.total += mass;
    return marginals;
  };
  const std::vector<sinkhorn::CheckedMarginals> all{total_one(own_even, even), total_one(own_heavy, heavy)};
  std::vector<double> heights;
  for (Index i = 0; i < matrix.rows; ++i) heights.push_back(matrix.first + i < 3 ? 2 : 1);
  const std::vector<sinkhorn::RowHeights> asked{{&all[0], heights}, {&all[1], heights}};
  const auto found = sinkhorn::feasibility<double>(context, matrix.const_view(), sinkhorn::Support::positive, asked);
  ASSERT_EQ(found.size(), 2U);
  for (std::size_t k = 0; k < 2; ++k) {
    const auto alone =
        sinkhorn::feasibility<double>(context, matrix.const_view(), sinkhorn::Support::positive, {&asked[k], 1})
            .front();
    EXPECT_EQ(found[k].is_infeasible, alone.is_infeasible);
    EXPECT_EQ(found[k].bottleneck.need, alone.bottleneck.need);
    EXPECT_EQ(found[k].bottleneck.room, alone.bottleneck.room);
  }
  double need = 0;
  for (std::size_t i = 0; i < 3; ++i) need += heavy.r[i];
  EXPECT_TRUE(found[1].is_infeasible);
  EXPECT_EQ(found[1].bottleneck.rows, 3);
  EXPECT_EQ(found[1].bottleneck.columns, 2);
  EXPECT_EQ(found[1].bottleneck.need, need);
  EXPECT_EQ(found[1].bottleneck.room, heavy.c[0] + heavy.c[1]);
  EXPECT_FALSE(found[0].is_infeasible && found[0].bottleneck.need == need);
}

struct Batch : ::testing::Test {
  mpi::Context context{test_comm()};

  /// Problems of one matrix: marginals of others with the same shape.
  template <class T, class A>
  void expect_what_each_alone_is(Index rows, Index columns, std::size_t count, const Limits& limits, double accuracy) {
    SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns) + ", " + std::to_string(count));
    WholeProblem whole = random_problem(rows, columns, 1);
    std::vector<WholeProblem> problems;
    std::vector<OwnRows<T>> own;
    std::vector<Marginals> marginals;
    for (std::size_t k = 0; k < count; ++k) {
      problems.push_back(random_problem(rows, columns, 10 + k));
      problems.back().entries = whole.entries;
      own.emplace_back(problems.back());
    }
    for (std::size_t k = 0; k < count; ++k) marginals.push_back({own[k].r, problems[k].c});
    const OwnRows<T> matrix(whole);
    const auto found = sinkhorn::scale_batch<T, A>(context, matrix.const_view(), marginals, limits);
    ASSERT_EQ(found.size(), count);
    for (std::size_t k = 0; k < count; ++k) {
      EXPECT_EQ(found[k].outcome.status, Status::converged) << found[k].outcome.reason;
      const std::vector<long double> reference = reference_plan(problems[k], 200);
      for (Index i = 0; i < matrix.rows; ++i) {
        for (Index j = 0; j < columns; ++j) {
          const double entry = static_cast<double>(found[k].u[static_cast<std::size_t>(i)]) *
                               simd::widened<double>(matrix.const_view()(i, j)) *
                               static_cast<double>(found[k].v[static_cast<std::size_t>(j)]);
          EXPECT_NEAR(entry, static_cast<double>(reference[static_cast<std::size_t>((matrix.first + i) * columns + j)]),
                      accuracy);
        }
      }
      const auto alone = sinkhorn::scale<T, A>(context, matrix.const_view(), marginals[k], limits);
      EXPECT_EQ(found[k].outcome.iterations, alone.outcome.iterations);
    }
  }
};

TEST_F(Batch, FindsWhatEachProblemAloneIs) {
  for (const std::size_t count : {0U, 1U, 5U}) {
    expect_what_each_alone_is<double, double>(13, 40, count, {.tolerance = 1e-13}, 1e-13);
  }
  expect_what_each_alone_is<double, double>(1, 5, 2, {.tolerance = 1e-13}, 1e-13);
  expect_what_each_alone_is<double, double>(6, 1, 2, {.tolerance = 1e-13}, 1e-13);
  expect_what_each_alone_is<float, double>(20, 30, 4, {.tolerance = 1e-12}, 1e-8);
  expect_what_each_alone_is<float, float>(20, 30, 4, {.tolerance = 2e-6}, 1e-6);
}

TEST_F(Batch, EndsEachProblemInItsOwnWay) {
  // Row 3 has one entry, in column 0.
  WholeProblem whole = random_problem(5, 4, 2);
  for (Index j = 1; j < 4; ++j) whole(3, j) = 0;
  std::vector<double> easy(5, 0.2);
  std::vector<double> infeasible{0.1, 0.1, 0.1, 0.6, 0.1};
  std::vector<double> tight{0.2, 0.2, 0.2, 0.25, 0.15};  // all of column 0
  const std::vector<double> columns(4, 0.25);
  const OwnRows<double> own(whole);
  const auto part = [&](const std::vector<double>& all) {
    return std::span<const double>(all).subspan(static_cast<std::size_t>(own.first),
                                                static_cast<std::size_t>(own.rows));
  };
  const std::vector<Marginals> marginals{
      {part(easy), columns}, {part(infeasible), columns}, {part(tight), columns}, {part(easy), columns}};
  Index heard = 0;
  const auto found = sinkhorn::scale_batch<double, double>(
      context, own.const_view(), marginals,
      {.tolerance = 1e-9, .most_iterations = 25, .listener = [&heard](Index iteration, double) { heard = iteration; }});
  EXPECT_EQ(found[0].outcome.status, Status::converged);
  EXPECT_EQ(found[0].u, found[3].u);
  EXPECT_EQ(found[1].outcome.status, Status::infeasible_marginals);
  EXPECT_THAT(found[1].outcome.reason, HasSubstr("1 of the rows must sum up to 0.6"));
  EXPECT_EQ(found[2].outcome.status, Status::iteration_limit);
  EXPECT_THAT(found[2].outcome.reason, HasSubstr("no total support"));
  EXPECT_EQ(heard, 25);
}

TEST_F(Batch, NamesTheMarginalsThatAreWrong) {
  const WholeProblem whole = random_problem(6, 4, 3);
  const OwnRows<double> own(whole);
  const std::vector<double> negative{1, -1, 0.5, 0.5};
  const std::vector<Marginals> marginals{{own.r, whole.c}, {own.r, negative}};
  EXPECT_THAT(message_of<ArgumentError>(
                  [&] { return sinkhorn::scale_batch<double, double>(context, own.const_view(), marginals); }),
              AllOf(HasSubstr("marginals 1: "), HasSubstr("the marginal of column 1 is -1")));
}

TEST(TransportBatches, AreWhatEachTransportAloneIs) {
  mpi::Context context(test_comm());
  WholeProblem costs = costs_of(points(14, 41), points(10, 42));
  costs(3, 4) = std::numeric_limits<double>::infinity();
  std::vector<WholeProblem> problems;
  std::vector<OwnRows<double>> own;
  for (std::size_t k = 0; k < 3; ++k) {
    problems.push_back(random_problem(14, 10, 50 + k));
    own.emplace_back(problems.back());
  }
  std::vector<Marginals> marginals;
  for (std::size_t k = 0; k < 3; ++k) marginals.push_back({own[k].r, problems[k].c});
  const OwnRows<double> matrix(costs);
  const auto expect_alike = [&](const sinkhorn::TransportOptions& options, Domain expected) {
    const auto found = sinkhorn::transport_batch<double, double>(context, matrix.const_view(), marginals, options);
    ASSERT_EQ(found.size(), 3U);
    for (std::size_t k = 0; k < 3; ++k) {
      const auto alone = sinkhorn::transport<double, double>(context, matrix.const_view(), marginals[k], options);
      EXPECT_EQ(found[k].outcome.status, Status::converged) << found[k].outcome.reason;
      EXPECT_EQ(found[k].stages.back().domain, expected);
      EXPECT_NEAR(found[k].cost, alone.cost, 1e-11);
      EXPECT_NEAR(found[k].dual, alone.dual, 1e-11);
      for (std::size_t j = 0; j < 10; ++j) {
        EXPECT_NEAR(found[k].g[j] - found[k].g[0], alone.g[j] - alone.g[0], 1e-10);
      }
    }
  };
  expect_alike({.epsilon = 0.1, .limits = {.tolerance = 1e-13}}, Domain::factors);
  expect_alike({.epsilon = 1e-3, .limits = {.tolerance = 1e-12}, .rho = {0.1, 0.1}}, Domain::logarithmic);
  marginals[1].columns = std::span(problems[1].c).first(9);
  EXPECT_THAT(message_of<ArgumentError>([&] {
                return sinkhorn::transport_batch<double, double>(context, matrix.const_view(), marginals,
                                                                 {.epsilon = 1});
              }),
              AllOf(HasSubstr("marginals 1: "), HasSubstr("marginals of 9 columns are given, expected 10")));
}

}  // namespace
}  // namespace plait::test
