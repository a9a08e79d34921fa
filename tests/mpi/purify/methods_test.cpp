#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/mpi/context.hpp"
#include "plait/purify/elementwise.hpp"
#include "plait/purify/products.hpp"
#include "plait/purify/purification.hpp"
#include "plait/purify/spectrum.hpp"

#include "mpi/purify/eigensolver.hpp"
#include "mpi/purify/replicated_products.hpp"
#include "support/message_of.hpp"
#include "support/ranks.hpp"

namespace plait::purify {
namespace {

using layout::Layout;
using test::distributed;
using test::gathered;
using test::largest_difference;
using test::methods;
using test::ReplicatedProducts;
using test::Whole;

/// Ragged blocks on as square a grid as there is; some ranks may have nothing.
Layout blocks(Index n, int ranks) {
  int rows = static_cast<int>(std::sqrt(ranks));
  return Layout::blocks({n, n}, rows, ranks / rows);
}

struct Run {
  Index steps = 0;
  Index multiplications = 0;
};

/// Purifies by a method and compares with the eigenstates.
template <class T>
Run expect_density(mpi::Context& context, const Layout& layout, const Whole<T>& whole, Index occupied, Method method) {
  ReplicatedProducts<T> products(context, layout);
  const auto h = distributed(context, layout, whole);
  const auto states = test::eigenstates(whole);
  Problem problem{method, occupied, spectrum_of(context, h, Bounds::lanczos)};
  const auto n = states.values.size();
  const auto count = static_cast<std::size_t>(occupied);
  if (occupied > 0 && count < n) problem.chemical_potential = (states.values[count - 1] + states.values[count]) / 2;
  Purification<T> purification(products, h, problem);
  while (purification.advance()) {
  }
  EXPECT_LT(largest_difference(gathered(context, purification.density()), test::density_of(states, occupied)), 1e-9)
      << name(method);
  const State& state = purification.state();
  EXPECT_NEAR(state.iterates.back().trace, static_cast<double>(occupied), 1e-9) << name(method);
  EXPECT_LT(state.iterates.back().idempotency_error, 1e-10) << name(method);
  double energy = 0;
  for (std::size_t k = 0; k < count; ++k) energy += states.values[k];
  EXPECT_NEAR(state.iterates.back().energy, energy, 1e-9 * std::max(1.0, std::abs(energy))) << name(method);
  if (occupied > 0 && count < n) {
    const Interval free = state.chemical_potentials();
    const double slack = 1e-9 * problem.spectrum.width();
    EXPECT_LT(free.low, free.high) << name(method);
    EXPECT_GT(free.low, states.values[count - 1] - slack) << name(method);
    EXPECT_LT(free.high, states.values[count] + slack) << name(method);
    EXPECT_GT(free.width(), 0.2 * (states.values[count] - states.values[count - 1])) << name(method);
    const double filling = static_cast<double>(occupied) / static_cast<double>(whole.n);
    constexpr Index traces = 4;  // which tell the levels of as many states, so that rounding decides how tc2 folds
    if (whole.n > traces && method == (filling > 0.4 && filling < 0.6 ? Method::canonical : Method::tc2)) {
      auto energies = states.values;
      const auto found = products_needed(method, energies, occupied);
      const auto needed = static_cast<double>(found.value_or(0));
      EXPECT_NEAR(static_cast<double>(purification.multiplications()), needed, 2 + 0.1 * needed)
          << name(method) << ", " << occupied << " of " << whole.n;
    }
  }
  return {static_cast<Index>(state.iterates.size()) - 1, purification.multiplications()};
}

std::vector<Run> runs_of_all_methods(const Whole<double>& whole, Index occupied) {
  mpi::Context context(test::test_comm());
  std::vector<Run> runs;
  for (const Method method : methods) {
    runs.push_back(expect_density(context, blocks(whole.n, context.size()), whole, occupied, method));
  }
  return runs;
}

/// \param expected  steps to 1e-11, as others count them; those of TC2 without folding
void expect_steps(const std::vector<Run>& runs, const std::array<Index, methods.size()>& expected) {
  for (std::size_t i = 0; i < methods.size(); ++i) {
    if (methods[i] == Method::tc2) {
      EXPECT_LE(100 * runs[i].steps, 85 * expected[i]) << "by what traces tell of the gap";
    } else {
      EXPECT_NEAR(static_cast<double>(runs[i].steps), static_cast<double>(expected[i]), 2) << name(methods[i]);
    }
    const Index products_of_step = methods[i] == Method::tc2 ? 1 : 2;
    EXPECT_LE(runs[i].multiplications, products_of_step * runs[i].steps + 1) << name(methods[i]);
  }
}

TEST(PurificationMethods, NeedAsManyProductsAsTheGapTellsIfThereIsOne) {
  const auto needed = [](Method method, double gap) {
    std::vector energies{-1., .3, .3 + gap, 1.};
    return products_needed(method, energies, 2);
  };
  for (const Method method : methods) {
    EXPECT_EQ(needed(method, 0), std::nullopt) << name(method);
    EXPECT_LT(needed(method, 1e-2), needed(method, 1e-10)) << name(method);
  }
}

TEST(PurificationMethods, AgreeWithTheEigenstatesOfC60) {
  const auto whole = test::c60();
  ASSERT_EQ(whole.n, 60);
  expect_steps(runs_of_all_methods(whole, 30), {12, 11, 20, 11, 11});
}

TEST(PurificationMethods, AgreeWithTheEigenstatesOfPolyacetylene) {
  const Index n = test::ranks() == 1 ? 400 : 50;
  const auto runs = runs_of_all_methods(test::polyacetylene(n), n / 2);
  if (n == 400) expect_steps(runs, {12, 12, 21, 12, 12});
}

TEST(PurificationMethods, AgreeWithTheEigenstatesOfGappedGraphene) {
  const Index edge = test::ranks() == 1 ? 14 : 5;
  const auto runs = runs_of_all_methods(test::gapped_graphene(edge, edge), edge * edge);
  if (edge == 14) expect_steps(runs, {11, 11, 21, 11, 11});
}

TEST(PurificationMethods, AgreeWithTheEigenstatesAtFivePerCentFilling) {
  const auto runs = runs_of_all_methods(test::prescribed<double>(test::spectrum_with_gap(120, 6, 0.02)), 6);
  // Of those that know no chemical potential, canonical purification is the slowest there by far.
  for (std::size_t i = 1; i < methods.size(); ++i) {
    if (methods[i] == Method::mcweeny) continue;
    EXPECT_GT(runs[0].multiplications, runs[i].multiplications) << name(methods[i]);
  }
}

TEST(PurificationMethods, AgreeWithTheEigenstatesAtHighFilling) {
  static_cast<void>(runs_of_all_methods(test::prescribed<double>(test::spectrum_with_gap(50, 44, 0.05)), 44));
}

TEST(PurificationMethods, AgreeWithTheEigenstatesAcrossASmallGap) {
  static_cast<void>(runs_of_all_methods(test::prescribed<double>(test::spectrum_with_gap(40, 13, 1e-5)), 13));
}

TEST(PurificationMethods, AgreeWithTheEigenstatesOfHermitianMatrices) {
  mpi::Context context(test::test_comm());
  const auto whole = test::prescribed<std::complex<double>>(test::spectrum_with_gap(31, 12, 0.1));
  for (const Method method : methods) {
    static_cast<void>(expect_density(context, blocks(31, context.size()), whole, 12, method));
  }
}

TEST(PurificationMethods, TakeAnyLayoutAndMatricesSmallerThanTheRanks) {
  mpi::Context context(test::test_comm());
  for (const Index n : {Index{1}, Index{2}, Index{3}, Index{11}}) {
    std::vector<double> values;
    for (Index i = 0; i < n; ++i) values.push_back(static_cast<double>(i * i));
    const auto whole = test::prescribed<double>(values);
    for (const Layout& layout : {Layout::rows({n, n}, context.size()), Layout::columns({n, n}, context.size()),
                                 Layout::block_cyclic({n, n}, 2, 3, layout::Owners::grid(context.size(), 1))}) {
      for (Index occupied = 0; occupied <= n; occupied += std::max(Index{1}, n / 3)) {
        for (const Method method : {Method::canonical, Method::tc2, Method::trs4}) {
          static_cast<void>(expect_density(context, layout, whole, occupied, method));
        }
      }
    }
  }
}

// From the line that has the trace of few states, each step would move them by their share of all only.
TEST(PurificationMethods, TakeFewStepsWhateverTheFilling) {
  mpi::Context context(test::test_comm());
  constexpr Index n = 120;
  const Layout layout = blocks(n, context.size());
  for (const Index occupied : {1, 2, 12, 108, 119}) {
    const auto whole = test::prescribed<double>(test::spectrum_with_gap(n, occupied, 0.01));
    for (const Method method : {Method::canonical, Method::hpcp}) {
      const Index steps = expect_density(context, layout, whole, occupied, method).steps;
      EXPECT_LE(steps, 40) << name(method) << ", " << occupied << " of " << n;
    }
  }
}

TEST(PurificationMethods, SayThatThereIsNoGapAndWhereNot) {
  mpi::Context context(test::test_comm());
  // C60's lowest empty level is threefold degenerate, so that 31 states can't be told from the others.
  const auto whole = test::c60();
  const auto level = test::eigenstates(whole).values[30];
  const Layout layout = blocks(whole.n, context.size());
  ReplicatedProducts<double> products(context, layout);
  const auto h = distributed(context, layout, whole);
  for (const Method method : {Method::canonical, Method::tc2, Method::trs4, Method::hpcp}) {
    Purification<double> purification(products, h, {method, 31, spectrum_of(context, h, Bounds::lanczos)});
    try {
      while (purification.advance()) {
      }
      ADD_FAILURE() << name(method) << " found a gap where there is none";
    } catch (const NoGap& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr("no gap for 31 occupied states of 60"));
      EXPECT_NEAR(error.interval().low, level, 1e-6) << name(method);
      EXPECT_NEAR(error.interval().high, level, 1e-6) << name(method);
      EXPECT_EQ(purification.state().end, iterate::End::no_solution);
      EXPECT_EQ(purification.state().reason, error.what());
    }
  }
  Whole<double> flat{5};
  for (Index i = 0; i < 5; ++i) flat(i, i) = 3;
  const Layout small = blocks(5, context.size());
  ReplicatedProducts<double> small_products(context, small);
  const auto flat_h = distributed(context, small, flat);
  EXPECT_THROW((Purification<double>(small_products, flat_h, {Method::tc2, 2, {3, 3}})), NoGap);
}

TEST(PurificationMethods, SayHowManyStatesAreOccupiedWhereNoneIsPartly) {
  mpi::Context context(test::test_comm());
  Whole<double> whole{4};  // 0, 0, 1 and 2
  whole(2, 2) = 1;
  whole(3, 3) = 2;
  const Layout layout = blocks(4, context.size());
  ReplicatedProducts<double> products(context, layout);
  const auto h = distributed(context, layout, whole);
  Purification<double> purification(products, h, {Method::tc2, 1, {0, 2}});
  try {
    while (purification.advance()) {
    }
    ADD_FAILURE() << "one of two equal states was occupied";
  } catch (const NoGap& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("states are occupied"));
    EXPECT_LE(error.interval().low, error.interval().high);
  }
  EXPECT_EQ(purification.state().iterates.back().idempotency_error, 0);
  EXPECT_LT(purification.state().iterates.size(), 30U) << "steps that change nothing";
}

TEST(PurificationMethods, RefuseAChemicalPotentialThatDoesNotFit) {
  mpi::Context context(test::test_comm());
  const Layout layout = blocks(20, context.size());
  ReplicatedProducts<double> products(context, layout);
  const auto h = distributed(context, layout, test::prescribed<double>(test::spectrum_with_gap(20, 10, 0.1)));
  const Interval spectrum = spectrum_of(context, h, Bounds::lanczos);
  const auto purify = [&](std::optional<double> mu) {
    Purification<double> purification(products, h, {Method::mcweeny, 8, spectrum, mu});
    while (purification.advance()) {
    }
  };
  EXPECT_THROW(purify({}), ArgumentError);
  EXPECT_THROW(purify(7), ArgumentError);
  try {
    purify(0.5);
    ADD_FAILURE() << "there are 10 states below";
  } catch (const ArgumentError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("chemical_potential: 0.5 has 10 states below it, expected 8"));
  }
}

TEST(PurificationMethods, HearOfRanksThatMeanDifferentProblems) {
  if (test::ranks() == 1) return;
  mpi::Context context(test::test_comm());
  const Layout layout = blocks(20, context.size());
  ReplicatedProducts<double> products(context, layout);
  const auto h = distributed(context, layout, test::prescribed<double>(test::spectrum_with_gap(20, 10, 0.1)));
  const Interval spectrum = spectrum_of(context, h, Bounds::lanczos);
  const auto begin = [&](Method method, Index occupied) {
    Purification<double> purification(products, h, {method, occupied, spectrum});
  };
  const bool differs = context.rank() == 1;
  EXPECT_THAT(test::message_of<ArgumentError>([&] { begin(differs ? Method::tc2 : Method::trs4, 10); }),
              ::testing::HasSubstr("rank 1: method: is tc2, but trs4 on rank 0; expected the same on all ranks"));
  EXPECT_THAT(test::message_of<ArgumentError>([&] { begin(Method::tc2, differs ? 9 : 10); }),
              ::testing::HasSubstr("occupied: is 9, but 10 on rank 0"));
}

void expect_same_steps(const State& a, const State& b) {
  EXPECT_TRUE(std::ranges::equal(a.iterates, b.iterates, {}, &Iterate::step, &Iterate::step));
}

/// Real and complex ones.
template <class T>
void expect_same_bits_after_resuming(mpi::Context& context) {
  const Layout layout = blocks(40, context.size());
  ReplicatedProducts<T> products(context, layout);
  auto energies = test::spectrum_with_gap(40, 9, 0.05);
  const auto h = distributed(context, layout, test::prescribed<T>(energies));
  std::ranges::sort(energies);
  for (const Method method : {Method::canonical, Method::mcweeny, Method::tc2, Method::trs4}) {
    Problem problem{method, 9, spectrum_of(context, h, Bounds::lanczos)};
    if (method == Method::mcweeny) problem.chemical_potential = (energies[8] + energies[9]) / 2;
    Purification<T> whole(products, h, problem);
    while (whole.advance()) whole.follow_frontier();
    const auto expected = gathered(context, whole.density());
    for (const int steps : {0, 1, 7, 12}) {
      Purification<T> first(products, h, problem);
      for (int step = 0; step < steps && first.advance(); ++step) first.follow_frontier();
      if (first.state().end != iterate::End::none) continue;
      iterate::Checkpoint checkpoint;
      first.save(checkpoint);
      Problem wider = problem;  // the bounds that another run finds need not have the same bits
      wider.spectrum.low -= 1e-3;
      Purification<T> rest(products, h, wider);
      rest.resume(checkpoint);
      EXPECT_EQ(rest.state().step, steps);
      EXPECT_EQ(rest.state().error, first.state().error);
      while (rest.advance()) rest.follow_frontier();
      EXPECT_EQ(gathered(context, rest.density()).elements, expected.elements) << name(method) << " after " << steps;
      EXPECT_EQ(rest.state().iterates.size(), whole.state().iterates.size());
      EXPECT_EQ(rest.state().problem.spectrum, problem.spectrum);
      expect_same_steps(rest.state(), whole.state());
      EXPECT_EQ(rest.state().frontier, whole.state().frontier);
    }
  }
}

TEST(PurificationMethods, GoOnFromAnyIterateWithTheSameBits) {
  mpi::Context context(test::test_comm());
  expect_same_bits_after_resuming<double>(context);
  expect_same_bits_after_resuming<std::complex<double>>(context);
}

TEST(PurificationMethods, GoOnAfterALimitWithALargerOne) {
  mpi::Context context(test::test_comm());
  const Layout layout = blocks(40, context.size());
  ReplicatedProducts<double> products(context, layout);
  const auto h = distributed(context, layout, test::prescribed<double>(test::spectrum_with_gap(40, 9, 0.05)));
  Problem problem{Method::trs4, 9, spectrum_of(context, h, Bounds::lanczos)};
  Purification<double> whole(products, h, problem);
  while (whole.advance()) {
  }
  const auto expected = gathered(context, whole.density());
  problem.most_iterations = 5;
  Purification<double> limited(products, h, problem);
  const auto run = [&] {
    while (limited.advance()) {
    }
  };
  EXPECT_THROW(run(), NoGap);
  EXPECT_EQ(limited.state().end, iterate::End::limit);
  EXPECT_FALSE(limited.advance());
  problem.most_iterations = 300;
  for (const Purification<double>* ended : {&limited, &whole}) {
    iterate::Checkpoint checkpoint;
    ended->save(checkpoint);
    Purification<double> rest(products, h, problem);
    rest.resume(checkpoint);
    EXPECT_EQ(rest.state().step, ended->state().step - 1);
    EXPECT_EQ(rest.state().end, iterate::End::none);
    while (rest.advance()) {
    }
    EXPECT_EQ(gathered(context, rest.density()).elements, expected.elements);
    expect_same_steps(rest.state(), whole.state());
  }
}

TEST(PurificationMethods, RefuseStatesOfOtherProblemsOnAllRanks) {
  mpi::Context context(test::test_comm());
  const Layout layout = blocks(12, context.size());
  ReplicatedProducts<double> products(context, layout);
  const auto h = distributed(context, layout, test::prescribed<double>(test::spectrum_with_gap(12, 5, 0.1)));
  const Interval spectrum = spectrum_of(context, h, Bounds::lanczos);
  Purification<double> tc2(products, h, {Method::tc2, 5, spectrum});
  ASSERT_TRUE(tc2.advance());
  iterate::Checkpoint checkpoint;
  tc2.save(checkpoint);
  const auto expect = [&](const Problem& problem, const iterate::Checkpoint& from, const char* words) {
    Purification<double> other(products, h, problem);
    EXPECT_THAT(test::message_of<ArgumentError>([&] { other.resume(from); }), ::testing::HasSubstr(words));
  };
  expect({Method::trs4, 5, spectrum}, checkpoint, "its method differs");
  expect({Method::tc2, 4, spectrum}, checkpoint, "its occupied differs");
  const double middle = spectrum.low + 0.5 * spectrum.width();
  expect({Method::tc2, 5, spectrum, middle}, checkpoint, "its chemical_potential differs");
  expect({Method::tc2, 5, spectrum}, {}, "the state has no spectrum.low");
  auto damaged = checkpoint;
  damaged.shared["iterates"].pop_back();
  expect({Method::tc2, 5, spectrum}, damaged, "11 numbers of 1 iterates");
  damaged = checkpoint;
  if (context.rank() == context.size() - 1) damaged.by_rank["x"].push_back(0);
  expect({Method::tc2, 5, spectrum}, damaged, "numbers of x, expected");
}

}  // namespace
}  // namespace plait::purify
