
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/sinkhorn/coffee/scale_in_place.hpp"
#include "plait/sinkhorn/exchange/column_sums.hpp"
#include "plait/sinkhorn/scaling/scale.hpp"

#include "mpi/mpi/pretended_nodes.hpp"
#include "mpi/sinkhorn/problem.hpp"
#include "support/message_of.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

using sinkhorn::ColumnExchange;
using sinkhorn::InPlaceForm;
using sinkhorn::LeaderRows;
using sinkhorn::Limits;
using sinkhorn::Meanwhile;
using sinkhorn::Scaling;
using sinkhorn::Status;
using sinkhorn::SumWay;
using ::testing::HasSubstr;

constexpr SumWay ways[] = {SumWay::chosen, SumWay::mpi, SumWay::ring, SumWay::two_level, SumWay::coffee};
constexpr SumWay ways_that_overlap[] = {SumWay::chosen, SumWay::ring, SumWay::two_level, SumWay::coffee};
constexpr InPlaceForm algorithms[] = {InPlaceForm::typical, InPlaceForm::by_rows, InPlaceForm::blocked};

/// All ranks on one node, and on two or three of several sizes.
std::vector<std::vector<int>> nodes() {
  const int all = ranks();
  if (all == 1) return {{1}};
  return {{all}, {1, all - 1}, {all - 1, 1}, {all / 2, all - all / 2}};
}

struct Scaled {
  OwnRows<double> own;
  Scaling<double> scaling;
};

Scaled scaled(mpi::Context& context, const WholeProblem& whole, InPlaceForm form, const ColumnExchange& exchange,
              const Limits& limits) {
  Scaled result{OwnRows<double>(whole), {}};
  result.scaling = sinkhorn::scale_in_place<double, double>(context, result.own.view(), {result.own.r, whole.c}, form,
                                                            limits, {.rows = 3, .columns = 500}, exchange);
  return result;
}

void expect_the_plan(const Scaled& found, const WholeProblem& whole, const std::vector<long double>& reference) {
  const OwnRows<double> before(whole);
  for (Index i = 0; i < before.rows; ++i) {
    for (Index j = 0; j < whole.columns; ++j) {
      const auto expected =
          static_cast<double>(reference[static_cast<std::size_t>((before.first + i) * whole.columns + j)]);
      const double by_factors = found.scaling.u[static_cast<std::size_t>(i)] * before.const_view()(i, j) *
                                found.scaling.v[static_cast<std::size_t>(j)];
      ASSERT_NEAR(found.own.const_view()(i, j), expected, 1e-13);
      ASSERT_NEAR(by_factors, expected, 1e-13);
    }
    for (Index j = whole.columns; j < whole.columns + 2; ++j) {  // nothing behind the rows was written
      ASSERT_EQ(found.own.elements[static_cast<std::size_t>(i * (whole.columns + 2) + j)], -99);
    }
  }
}

TEST(ColumnExchange, MakesThePlanByEveryWayOnAnyNodes) {
  for (const auto& sizes : nodes()) {
    const PretendedNodes pretended(sizes);
    mpi::Context context(test_comm());
    for (const auto& [rows, columns] : {std::pair<Index, Index>{11, 70}, {2, 5}, {5, 1}}) {
      const WholeProblem whole = random_problem(rows, columns, 31);
      const std::vector<long double> reference = reference_plan(whole);
      for (const SumWay way : ways) {
        for (const Meanwhile meanwhile : {Meanwhile::wait, Meanwhile::rescale}) {
          if (way == SumWay::mpi && meanwhile == Meanwhile::rescale) continue;
          for (const LeaderRows leader_rows : {LeaderRows::kept, LeaderRows::dealt}) {
            SCOPED_TRACE(std::string(name(way)));
            const auto found =
                scaled(context, whole, InPlaceForm::blocked, {way, meanwhile, leader_rows}, {.tolerance = 1e-13});
            EXPECT_EQ(found.scaling.outcome.status, Status::converged) << found.scaling.outcome.reason;
            expect_the_plan(found, whole, reference);
          }
        }
      }
      const auto fused = scaled(context, whole, InPlaceForm::fused, {SumWay::coffee}, {.tolerance = 1e-13});
      expect_the_plan(fused, whole, reference);
    }
  }
}

TEST(ColumnExchange, GivesTheSameBitsWhetherTheUpdateOverlapsOrNot) {
  const WholeProblem whole = random_problem(7, 9000, 32);  // several chunks
  const Limits limits{.tolerance = 0, .most_iterations = 5};
  for (const auto& sizes : nodes()) {
    const PretendedNodes pretended(sizes);
    mpi::Context context(test_comm());
    for (const SumWay way : ways_that_overlap) {
      if (way == SumWay::chosen) continue;  // adds in another order
      for (const InPlaceForm form : algorithms) {
        const auto waits = scaled(context, whole, form, {way, Meanwhile::wait}, limits);
        const auto overlaps = scaled(context, whole, form, {way, Meanwhile::rescale}, limits);
        EXPECT_EQ(waits.scaling.outcome.iterations, 5);
        EXPECT_EQ(overlaps.scaling.outcome.errors, waits.scaling.outcome.errors);
        EXPECT_EQ(overlaps.scaling.u, waits.scaling.u);
        EXPECT_EQ(overlaps.scaling.v, waits.scaling.v);
        EXPECT_EQ(overlaps.own.elements, waits.own.elements);
      }
    }
  }
}

template <class A>
void expect_sums(mpi::Context& context, Index length) {
  sinkhorn::SumOverRanks<A> sum(context, length);
  std::vector<A> vector(static_cast<std::size_t>(length));
  for (int run = 1; run <= 3; ++run) {
    for (Index j = 0; j < length; ++j) vector[static_cast<std::size_t>(j)] = static_cast<A>((rank() + 1) * run + j % 7);
    sum(vector);
    const Index of_ranks = Index{ranks()} * (ranks() + 1) / 2 * run;
    for (Index j = 0; j < length; ++j) {
      ASSERT_EQ(vector[static_cast<std::size_t>(j)], static_cast<A>(of_ranks + ranks() * (j % 7)));
    }
  }
}

TEST(ColumnExchange, SumsUpThroughTheLevelsOfNodes) {
  if (ranks() < 3) return;
  for (const auto& sizes : nodes()) {
    const PretendedNodes pretended(sizes);
    mpi::Context context(test_comm());
    model::Machine slow = model::default_machine();
    const model::BandwidthCurve of_100_megabit({{60'000, 12.5e6}});
    slow.network.streams = {{1, of_100_megabit, of_100_megabit}};
    context.use_machine(slow);
    std::string choices;
    context.choices().tell([&choices](const std::string& line) { choices += line; });
    expect_sums<double>(context, 50'001);
    expect_sums<float>(context, 50'001);
    expect_sums<double>(context, 1);
    if (context.topology().nodes() == 2 && 2 * context.topology().ranks_per_node() == ranks()) {
      EXPECT_THAT(choices, HasSubstr("nodes: hierarchical"));
    }
  }
}

TEST(ColumnExchange, EndsWithTheSumsOfRowsWhereAnErrorFallsAtOnce) {
  // Of rank 1: the first iteration leaves rounding. It can't be foreseen from an error before it.
  WholeProblem whole = random_problem(6, 40, 33);
  for (Index i = 0; i < 6; ++i) {
    for (Index j = 0; j < 40; ++j) whole(i, j) = static_cast<double>((i + 1) * (j + 1));
  }
  const std::vector<long double> reference = reference_plan(whole, 3);
  mpi::Context context(test_comm());
  const auto found =
      scaled(context, whole, InPlaceForm::blocked, {SumWay::ring, Meanwhile::rescale}, {.tolerance = 1e-12});
  EXPECT_EQ(found.scaling.outcome.status, Status::converged);
  EXPECT_LE(found.scaling.outcome.iterations, 3);
  expect_the_plan(found, whole, reference);
}

TEST(ColumnExchange, ProvesThatThereIsNoSupportWithRowsDealt) {
  WholeProblem whole = random_problem(6, 6, 34);
  for (const Index i : {1, 2, 5}) {
    for (Index j = 2; j < 6; ++j) whole(i, j) = 0;
  }
  whole.r.assign(6, 1);
  whole.c.assign(6, 1);
  mpi::Context context(test_comm());
  const auto found = scaled(context, whole, InPlaceForm::blocked,
                            {SumWay::coffee, Meanwhile::rescale, LeaderRows::dealt}, {.tolerance = 1e-9});
  EXPECT_EQ(found.scaling.outcome.status, Status::no_support) << found.scaling.outcome.reason;
}

TEST(ColumnExchange, DealsTheRowsOfTheFirstRankAndPutsThemBack) {
  const WholeProblem whole = random_problem(13, 4, 35);
  mpi::Context context(test_comm());
  OwnRows<double> own(whole);
  sinkhorn::DealtRows<double> dealt(context, own.view(), own.r);
  if (ranks() > 1) {
    EXPECT_EQ(dealt.rows().rows() == 0, rank() == 0);
  }
  ASSERT_EQ(dealt.rows().rows(), static_cast<Index>(dealt.marginals().size()));
  std::vector<double> factors;
  for (Index i = 0; i < dealt.rows().rows(); ++i) {
    factors.push_back(dealt.marginals()[static_cast<std::size_t>(i)]);
    for (Index j = 0; j < 4; ++j) dealt.rows()(i, j) *= 2;
  }
  EXPECT_EQ(dealt.put_back(factors), own.r);
  for (Index i = 0; i < own.rows; ++i) {
    for (Index j = 0; j < 4; ++j) EXPECT_EQ(own.view()(i, j), 2 * whole(own.first + i, j));
  }
}

TEST(ColumnExchange, HearsOfRanksThatMeanDifferentOnes) {
  if (ranks() == 1) return;
  const WholeProblem whole = random_problem(9, 8, 37);
  mpi::Context context(test_comm());
  const auto with = [&](const ColumnExchange& of_others) {
    return [&, of_others] {
      static_cast<void>(
          scaled(context, whole, InPlaceForm::by_rows, rank() == 1 ? ColumnExchange{SumWay::ring} : of_others, {}));
    };
  };
  EXPECT_THAT(message_of<ArgumentError>(with({SumWay::coffee})), HasSubstr("rank 1: way of the exchange: is "));
  EXPECT_THAT(message_of<ArgumentError>(with({SumWay::ring, Meanwhile::rescale})),
              HasSubstr("rank 1: work meanwhile: is "));
  EXPECT_THAT(message_of<ArgumentError>(with({SumWay::ring, Meanwhile::wait, LeaderRows::dealt})),
              HasSubstr("rank 1: rows of the first rank: is "));
}

TEST(ColumnExchange, RefusesWhatCannotOverlap) {
  const WholeProblem whole = random_problem(4, 4, 36);
  mpi::Context context(test_comm());
  const auto with = [&](InPlaceForm form, const ColumnExchange& exchange) {
    return [&context, &whole, form, exchange] { static_cast<void>(scaled(context, whole, form, exchange, {})); };
  };
  EXPECT_THAT(message_of<ArgumentError>(with(InPlaceForm::fused, {SumWay::ring, Meanwhile::rescale})),
              HasSubstr("expected one of Algorithms 1 to 3"));
  EXPECT_THAT(message_of<ArgumentError>(with(InPlaceForm::fused, {SumWay::ring, Meanwhile::wait, LeaderRows::dealt})),
              HasSubstr("expected one of Algorithms 1 to 3"));
  EXPECT_THAT(message_of<ArgumentError>(with(InPlaceForm::blocked, {SumWay::mpi, Meanwhile::rescale})),
              HasSubstr("MPI_Allreduce, which returns everything at once"));
}

}  // namespace
}  // namespace plait::test
