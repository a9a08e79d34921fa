#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/mpi/context.hpp"
#include "plait/purify/dense_products.hpp"
#include "plait/purify/orthogonal.hpp"
#include "plait/purify/purification.hpp"
#include "plait/purify/sequence.hpp"
#include "plait/purify/spectrum.hpp"

#include "mpi/purify/eigensolver.hpp"
#include "mpi/purify/replicated_products.hpp"
#include "support/message_of.hpp"
#include "support/ranks.hpp"

namespace plait::purify {
namespace {

using test::Whole;

template <class T>
struct Mixed {
  Mixed(mpi::Context& its_context, const Whole<T>& whole)
      : context(its_context),
        products(context, whole.n, choose_squares(context.size())),
        early(context, whole.n, choose_squares(context.size())),
        h(test::distributed(context, products.layout(), whole)),
        states(test::eigenstates(whole)) {}

  [[nodiscard]] Problem problem(Method method, Index occupied) {
    const auto count = static_cast<std::size_t>(occupied);
    return {method, occupied, spectrum_of(context, h, Bounds::lanczos),
            (states.values[count - 1] + states.values[count]) / 2};
  }

  mpi::Context& context;
  DenseProducts<T> products;
  DenseProducts<Single<T>> early;
  Matrix<T> h;
  test::Eigenstates<T> states;
};

template <class T>
double distance_from(const Mixed<T>& mixed, Purification<T>& purification, Index occupied) {
  const auto found = test::gathered(mixed.context, purification.density());
  const auto expected = test::density_of(mixed.states, occupied);
  double sum = 0;
  for (std::size_t i = 0; i < found.elements.size(); ++i) {
    sum += std::norm(found.elements[i] - expected.elements[i]);
  }
  return std::sqrt(sum);
}

template <class T>
void expect_right_but_for_rounding(mpi::Context& context, const Whole<T>& whole, Index occupied, Method method) {
  Mixed<T> mixed(context, whole);
  const Problem problem = mixed.problem(method, occupied);
  const double width = problem.spectrum.width();
  Purification<T> purification(mixed.products, mixed.h, problem, &mixed.early);
  while (purification.advance()) purification.follow_frontier();
  const State& state = purification.state();
  EXPECT_TRUE(state.began_early()) << name(method);
  EXPECT_FALSE(state.is_early) << name(method);
  Purification<T> in_double(mixed.products, mixed.h, problem);
  while (in_double.advance()) {
  }
  // Early steps of TC2 do not fold by their traces, which rounding blurs.
  EXPECT_LE(state.step, method == Method::tc2 ? in_double.state().step * 3 / 2 + 1 : in_double.state().step + 1)
      << name(method);
  EXPECT_GT(2 * purification.early_multiplications(), purification.multiplications()) << name(method);
  EXPECT_LT(distance_from(mixed, purification, occupied), 1e-4) << name(method);
  const DensityErrors errors = density_errors(context, state, mixed.h, purification.density());
  EXPECT_EQ(errors.complaint(whole.n, false), "") << name(method);
  EXPECT_LT(std::abs(errors.trace), 1e-10) << name(method);
  EXPECT_LT(errors.idempotency, 1e-10) << name(method);
  double energy = 0;
  for (Index k = 0; k < occupied; ++k) energy += mixed.states.values[static_cast<std::size_t>(k)];
  EXPECT_NEAR(state.iterates.back().energy, energy, 1e-9 * width * static_cast<double>(whole.n)) << name(method);

  const double highest = mixed.states.values[static_cast<std::size_t>(occupied - 1)];
  const double lowest = mixed.states.values[static_cast<std::size_t>(occupied)];
  const double slack = 1e-9 * width;
  const Interval none = state.chemical_potentials();
  EXPECT_GE(none.low, highest - slack) << name(method);
  EXPECT_LE(none.high, lowest + slack) << name(method);
  EXPECT_GT(none.width(), 0.2 * (lowest - highest)) << name(method);
  const Frontier frontier = purification.frontier();
  EXPECT_LE(frontier.highest_occupied, highest + slack) << name(method);
  EXPECT_GE(frontier.highest_occupied + frontier.occupied_error, highest - slack) << name(method);
  EXPECT_GE(frontier.lowest_empty, lowest - slack) << name(method);
  EXPECT_LE(frontier.lowest_empty - frontier.empty_error, lowest + slack) << name(method);
  EXPECT_LT(frontier.occupied_error + frontier.empty_error, lowest - highest) << name(method);
}

constexpr std::array all_methods{Method::canonical, Method::mcweeny, Method::tc2, Method::trs4, Method::hpcp};

TEST(EarlySteps, InSinglePrecisionLeaveEnergyAndIdempotencyAsTheyAreInDouble) {
  mpi::Context context(test::test_comm());
  for (const Method method : all_methods) {
    expect_right_but_for_rounding(context, test::c60(), 30, method);
    expect_right_but_for_rounding(context, test::gapped_graphene(5, 5), 25, method);
    for (const double gap : {0.3, 0.01, 1e-3}) {
      expect_right_but_for_rounding(context, test::prescribed<double>(test::spectrum_with_gap(61, 28, gap)), 28,
                                    method);
    }
    expect_right_but_for_rounding(context, test::prescribed<double>(test::spectrum_with_gap(70, 4, 0.02)), 4, method);
    std::vector<double> clusters(60, 0.45);
    std::fill(clusters.begin() + 30, clusters.end(), 0.55);
    clusters.front() = 0, clusters.back() = 1;
    expect_right_but_for_rounding(context, test::prescribed<double>(clusters), 30, method);
    const auto complex = test::prescribed<std::complex<double>>(test::spectrum_with_gap(31, 12, 0.1));
    expect_right_but_for_rounding(context, complex, 12, method);
  }
}

TEST(EarlySteps, GiveWayToDoubleOnesWhereTheGapIsTooSmallForThem) {
  mpi::Context context(test::test_comm());
  for (const double gap : {1e-5, 1e-7, 1e-9}) {
    Mixed<double> mixed(context, test::prescribed<double>(test::spectrum_with_gap(60, 27, gap)));
    for (const Method method : all_methods) {
      const Problem problem = mixed.problem(method, 27);
      Purification<double> purification(mixed.products, mixed.h, problem, &mixed.early);
      while (purification.advance()) purification.follow_frontier();
      EXPECT_FALSE(purification.state().began_early()) << name(method) << " " << gap;
      EXPECT_GT(purification.early_multiplications(), 0);
      EXPECT_LT(distance_from(mixed, purification, 27), 1e-9 / gap * 1e-4) << name(method) << " " << gap;
      const DensityErrors errors = density_errors(context, purification.state(), mixed.h, purification.density());
      EXPECT_LT(errors.commutator, 1e-12) << name(method);
      if (method != Method::tc2 || gap < 1e-6) continue;
      // What single precision told of the gap saves double steps.
      Purification<double> without(mixed.products, mixed.h, problem);
      while (without.advance()) continue;
      const Index in_double = purification.multiplications() - purification.early_multiplications();
      EXPECT_LE(in_double, without.multiplications());
    }
  }
}

TEST(EarlySteps, FindThatThereIsNoGapInDouble) {
  mpi::Context context(test::test_comm());
  Whole<double> ring{12};
  for (Index i = 0; i < 12; ++i) ring(i, (i + 1) % 12) = ring((i + 1) % 12, i) = -1;
  DenseProducts<double> products(context, 12, choose_squares(context.size()));
  DenseProducts<float> early(context, 12, choose_squares(context.size()));
  const auto h = test::distributed(context, products.layout(), ring);
  for (const Method method : {Method::canonical, Method::tc2, Method::trs4}) {
    Purification<double> purification(products, h, {method, 6, spectrum_of(context, h, Bounds::lanczos)}, &early);
    EXPECT_THROW(while (purification.advance()) purification.follow_frontier(), NoGap) << name(method);
  }
  for (const Index occupied : {0, 12}) {
    Purification<double> purification(products, h, {Method::tc2, occupied, spectrum_of(context, h, Bounds::lanczos)},
                                      &early);
    EXPECT_FALSE(purification.advance());
    EXPECT_EQ(purification.state().iterates.back().trace, static_cast<double>(occupied));
  }
}

TEST(EarlySteps, GoOnFromAnyIterateWithTheSameBits) {
  mpi::Context context(test::test_comm());
  Mixed<double> mixed(context, test::prescribed<double>(test::spectrum_with_gap(40, 18, 0.02)));
  const Problem problem = mixed.problem(Method::tc2, 18);
  Purification<double> whole(mixed.products, mixed.h, problem, &mixed.early);
  while (whole.advance()) whole.follow_frontier();
  const auto expected = test::gathered(context, whole.density()).elements;
  for (Index steps = 1; steps < whole.state().step; ++steps) {
    Purification<double> first(mixed.products, mixed.h, problem, &mixed.early);
    for (Index i = 0; i < steps; ++i) {
      ASSERT_TRUE(first.advance());
      first.follow_frontier();
    }
    iterate::Checkpoint checkpoint;
    first.save(checkpoint);
    Purification<double> rest(mixed.products, mixed.h, problem, &mixed.early);
    rest.resume(checkpoint);
    while (rest.advance()) rest.follow_frontier();
    EXPECT_EQ(test::gathered(context, rest.density()).elements, expected) << "after " << steps;
    EXPECT_EQ(rest.state().early_steps, whole.state().early_steps);
    EXPECT_EQ(rest.state().frontier, whole.state().frontier);
    if (!first.state().is_early) continue;
    Purification<double> in_double(mixed.products, mixed.h, problem);
    EXPECT_THAT(test::message_of<ArgumentError>([&] { in_double.resume(checkpoint); }),
                ::testing::HasSubstr("single precision, expected products"));
  }
}

TEST(EarlySteps, TellASequenceWhereTheNextGapIs) {
  mpi::Context context(test::test_comm());
  Mixed<double> mixed(context, test::prescribed<double>(test::spectrum_with_gap(60, 30, 0.01)));
  Sequence<double> sequence(mixed.products);
  std::array<Index, 3> multiplications{};
  for (Index& count : multiplications) {
    auto copy = Matrix<double>(mixed.h.layout(), context.rank());
    blend<double>(0, {{1, &mixed.h}}, copy);
    auto& purification = sequence.begin(std::move(copy), {Method::tc2, 30, {}}, Bounds::lanczos, &mixed.early);
    while (purification.advance()) purification.follow_frontier();
    EXPECT_LT(distance_from(mixed, purification, 30), 1e-4);
    count = purification.multiplications();
  }
  EXPECT_LT(multiplications[1], multiplications[0]);
  EXPECT_LT(multiplications[2], multiplications[0]);
}

}  // namespace
}  // namespace plait::purify
