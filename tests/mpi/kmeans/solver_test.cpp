#include "plait/kmeans/solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/base/random.hpp"
#include "plait/kmeans/start.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/context.hpp"

#include "support/message_of.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

using kmeans::Bounds;
using kmeans::Options;
using kmeans::Points;
using kmeans::Solver;
using ::testing::AllOf;
using ::testing::HasSubstr;

static_assert(iterate::Solver<Solver<double>> && iterate::Solver<Solver<float>>);

// Multiples of 2^-10, so that sums of some thousand of them are exact in doubles.
template <class T>
struct Data {
  Index rows, columns;
  std::vector<T> x;

  [[nodiscard]] T at(Index i, Index c) const { return x[static_cast<std::size_t>(i * columns + c)]; }
};

template <class T>
Data<T> blobs(Index rows, Index columns, Index centres, std::uint64_t seed) {
  Data<T> data{rows, columns, {}};
  for (Index i = 0; i < rows; ++i) {
    const auto blob = random_bits(seed, static_cast<std::uint64_t>(i)) % static_cast<std::uint64_t>(centres);
    for (Index c = 0; c < columns; ++c) {
      const double middle = 4 * random_uniform(seed + 1, blob * 100 + static_cast<std::uint64_t>(c));
      const double noise = random_uniform(seed + 2, static_cast<std::uint64_t>(i * columns + c)) +
                           random_uniform(seed + 3, static_cast<std::uint64_t>(i * columns + c));
      data.x.push_back(static_cast<T>(std::round((middle + noise) * 1024) / 1024));
    }
  }
  return data;
}

// Where the rows of each rank begin: evenly, raggedly, or all on the last one.
enum class Split { even, ragged, last };
Index begin_of(Index rows, Split split, int of) {
  if (split == Split::last) return of < ranks() ? 0 : rows;
  if (split == Split::even) return rows * of / ranks();
  return of == ranks() ? rows : rows * of * of / (ranks() * ranks()) / 2;
}

template <class T>
simd::RowBlock<const T> part(const Data<T>& data, Split split) {
  const Index begin = begin_of(data.rows, split, rank());
  return {data.x.data() + begin * data.columns, begin_of(data.rows, split, rank() + 1) - begin, data.columns,
          data.columns};
}

// Lloyd's iteration as the textbook has it, on all data.
template <class T>
struct Naive {
  std::vector<int> labels;
  std::vector<T> centres;
  std::vector<double> objectives;
  int refilled = 0;

  static long double distance(const Data<T>& data, Index i, const std::vector<T>& centres, Index j) {
    long double sum = 0;
    for (Index c = 0; c < data.columns; ++c) {
      const long double t =
          static_cast<long double>(data.at(i, c)) - centres[static_cast<std::size_t>(j * data.columns + c)];
      sum += t * t;
    }
    return sum;
  }

  void label(const Data<T>& data) {
    const auto k = static_cast<Index>(centres.size()) / data.columns;
    labels.assign(static_cast<std::size_t>(data.rows), 0);
    for (Index i = 0; i < data.rows; ++i) {
      long double least = std::numeric_limits<long double>::infinity();
      for (Index j = 0; j < k; ++j) {
        const long double d = distance(data, i, centres, j);
        if (d < least) {
          least = d;
          labels[static_cast<std::size_t>(i)] = static_cast<int>(j);
        }
      }
    }
  }

  void iterate(const Data<T>& data) {
    const auto k = centres.size() / static_cast<std::size_t>(data.columns);
    label(data);
    std::vector<long double> d;
    for (Index i = 0; i < data.rows; ++i) d.push_back(distance(data, i, centres, labels[static_cast<std::size_t>(i)]));
    for (std::size_t j = 0; j < k; ++j) {
      if (std::ranges::count(labels, static_cast<int>(j)) > 0) continue;
      std::size_t farthest = d.size();
      for (std::size_t i = 0; i < d.size(); ++i) {
        if (std::ranges::count(labels, labels[i]) > 1 && (farthest == d.size() || d[i] > d[farthest])) farthest = i;
      }
      labels[farthest] = static_cast<int>(j);
      d[farthest] = 0;
      ++refilled;
    }
    std::vector<double> sums(centres.size());
    std::vector<double> counts(k);
    for (Index i = 0; i < data.rows; ++i) {
      const auto j = static_cast<std::size_t>(labels[static_cast<std::size_t>(i)]);
      ++counts[j];
      for (Index c = 0; c < data.columns; ++c)
        sums[j * static_cast<std::size_t>(data.columns) + static_cast<std::size_t>(c)] += double{data.at(i, c)};
    }
    for (std::size_t e = 0; e < sums.size(); ++e) {
      centres[e] = static_cast<T>(sums[e] / counts[e / static_cast<std::size_t>(data.columns)]);
    }
    long double objective = 0;
    for (Index i = 0; i < data.rows; ++i) objective += distance(data, i, centres, labels[static_cast<std::size_t>(i)]);
    objectives.push_back(static_cast<double>(objective));
  }
};

template <class T>
class KMeans : public ::testing::Test {
 protected:
  mpi::Context context_{test_comm()};
};
using Precisions = ::testing::Types<double, float>;
TYPED_TEST_SUITE(KMeans, Precisions);

template <class T>
std::vector<T> first_rows(const Data<T>& data, Index k) {
  return {data.x.begin(), data.x.begin() + k * data.columns};
}

TYPED_TEST(KMeans, IsLloydsIterationToTheBitWithBoundsAndWithout) {
  using T = TypeParam;
  struct Size {
    Index rows, columns, k;
  };
  for (const auto& [rows, columns, k] :
       {Size{1, 1, 1}, Size{7, 3, 2}, Size{64, 1, 5}, Size{300, 10, 10}, Size{1500, 2, 40}, Size{2500, 9, 33}}) {
    const auto data = blobs<T>(rows, columns, std::max<Index>(1, k / 2), static_cast<std::uint64_t>(rows));
    for (const Split split : {Split::even, Split::ragged, Split::last}) {
      for (const Bounds bounds : {Bounds::never, Bounds::always, Bounds::automatic}) {
        SCOPED_TRACE(fmt::format("{} x {}, {} clusters, split {}, bounds {}", rows, columns, k, static_cast<int>(split),
                                 static_cast<int>(bounds)));
        const Points<T> points(this->context_, part(data, split));
        Naive<T> naive{{}, first_rows(data, k), {}};
        Solver<T> solver(points, naive.centres, {.bounds = bounds});
        while (solver.advance()) {
          naive.iterate(data);
          ASSERT_TRUE(std::ranges::equal(std::span(solver.centres().data, naive.centres.size()), naive.centres))
              << solver.state().step;
          const Index begin = begin_of(rows, split, rank());
          for (Index i = 0; i < part(data, split).rows; ++i) {
            ASSERT_EQ(solver.assignment().labels()[static_cast<std::size_t>(i)],
                      naive.labels[static_cast<std::size_t>(begin + i)]);
          }
          ASSERT_NEAR(solver.objectives().back(), naive.objectives.back(), 1e-13 * naive.objectives.back());
        }
        ASSERT_EQ(solver.state().end, iterate::End::converged);
        ASSERT_EQ(solver.refilled(), naive.refilled);
        const auto [objective, sizes] = solver.conclude();
        ASSERT_NEAR(objective, naive.objectives.back(),
                    10 * double{std::numeric_limits<T>::epsilon()} * naive.objectives.back());
        ASSERT_EQ(std::accumulate(sizes.begin(), sizes.end(), Index{0}), rows);
      }
    }
  }
}

TYPED_TEST(KMeans, LabelsAreThoseOfDistancesWhereSinglePrecisionDoesNotTellThemApart) {
  using T = TypeParam;
  constexpr Index rows = 1500, columns = 3, k = 30;
  // Two heaps, 2^12 or 2^26 from each other, whose points are multiples of 2^-8 around each, and of few places.
  auto data = blobs<T>(rows, columns, 4, 11);
  const T away = std::is_same_v<T, float> ? T(0x1p12) : T(0x1p26);
  for (Index i = 0; i < rows; ++i) {
    for (Index c = 0; c < columns; ++c) {
      T& x = data.x[static_cast<std::size_t>(i * columns + c)];
      x = std::round(x * 256) / 256 + (i % 3 == 0 ? away : T(0));
    }
  }
  const Points<T> points(this->context_, part(data, Split::even));
  for (const Bounds bounds : {Bounds::never, Bounds::always, Bounds::automatic}) {
    Naive<T> naive{{}, first_rows(data, k), {}};
    Solver<T> solver(points, naive.centres, {.limits = {0, 12}, .bounds = bounds});
    while (solver.advance()) {
      naive.iterate(data);
      ASSERT_TRUE(std::ranges::equal(std::span(solver.centres().data, naive.centres.size()), naive.centres))
          << solver.state().step << ", bounds " << static_cast<int>(bounds);
    }
  }
}

TYPED_TEST(KMeans, BoundsSaveDistancesWhereBlobsAreApart) {
  using T = TypeParam;
  const auto data = blobs<T>(20000, 4, 50, 3);
  const Points<T> points(this->context_, part(data, Split::even));
  Solver<T> solver(points, kmeans::spread_centres(points, 50, 1), {.bounds = Bounds::always});
  iterate::run(solver);
  EXPECT_LT(solver.assignment().computed(), 0.5 * solver.assignment().without_bounds());
}

TYPED_TEST(KMeans, CountsTheDistancesOfDrawsAndOfAssignmentsOnce) {
  using T = TypeParam;
  constexpr Index rows = 4000, k = 30, epochs = 3;
  const auto data = blobs<T>(rows, 2, 4, 3);
  const Points<T> points(this->context_, part(data, Split::even));
  const auto start = kmeans::random_centres(points, k, 1);
  for (const Bounds bounds : {Bounds::never, Bounds::always}) {
    for (const auto draw : {kmeans::Draw::all, kmeans::Draw::batches}) {
      Solver<T> solver(points, start, {.limits = {0, epochs}, .draw = draw, .batch = 500, .bounds = bounds});
      iterate::run(solver);
      const auto sum = [&](double own) { return mpi::all_reduce(this->context_.comm(), own, mpi::Operation::sum()); };
      const double computed = sum(solver.assignment().computed()), all = sum(solver.assignment().without_bounds());
      const bool draws = draw == kmeans::Draw::batches;  // as many as there are points, before all points are looked at
      EXPECT_EQ(all, rows * k * epochs * (draws ? 2 : 1));
      EXPECT_LE(computed, all);
      EXPECT_GE(computed, bounds == Bounds::never ? all : draws ? rows * k * epochs : rows * k);
    }
  }
}

TYPED_TEST(KMeans, GivesPointsBetweenTwoCentresToTheFirst) {
  using T = TypeParam;
  const Data<T> data{5, 1, {T(-1), T(1), T(0), T(-1), T(1)}};
  const Points<T> points(this->context_, part(data, Split::even));
  Solver<T> solver(points, {T(1), T(-1)}, {.limits = {.tolerance = 0, .most_iterations = 1}});
  solver.advance();
  EXPECT_EQ(solver.centres().data[0], static_cast<T>(2.0 / 3));
  EXPECT_EQ(solver.centres().data[1], T(-1));
}

TYPED_TEST(KMeans, GivesClustersWithoutPointsTheFarthestOnes) {
  using T = TypeParam;
  const Data<T> data{6, 1, {T(0), T(1), T(2), T(3), T(10), T(12)}};
  const Points<T> points(this->context_, part(data, Split::even));
  Solver<T> solver(points, {T(1), T(100), T(1)}, {});
  solver.advance();
  EXPECT_EQ(solver.refilled(), 2);
  EXPECT_EQ(solver.centres().data[0], T(1.5));
  EXPECT_EQ(solver.centres().data[1], T(12));
  EXPECT_EQ(solver.centres().data[2], T(10));
}

TYPED_TEST(KMeans, ObjectivesNeverRise) {
  using T = TypeParam;
  const auto data = blobs<T>(3000, 5, 20, 8);
  const Points<T> points(this->context_, part(data, Split::ragged));
  Solver<T> solver(points, kmeans::random_centres(points, 20, 5), {});
  iterate::run(solver);
  ASSERT_GT(solver.objectives().size(), 3U);
  EXPECT_TRUE(std::ranges::is_sorted(solver.objectives(), std::greater<>()));
}

TYPED_TEST(KMeans, GoesOnFromACheckpointWithTheSameBits) {
  using T = TypeParam;
  const auto data = blobs<T>(2000, 3, 12, 4);
  const Points<T> points(this->context_, part(data, Split::even));
  const auto start = kmeans::random_centres(points, 12, 6);
  Solver<T> whole(points, start, {});
  iterate::run(whole);
  ASSERT_GT(whole.state().step, 4);
  Solver<T> begun(points, start, {});
  for (int i = 0; i < 3; ++i) begun.advance();
  iterate::Checkpoint checkpoint;
  begun.save(checkpoint);
  const Points<T> others(this->context_, part(data, Split::ragged));
  Solver<T> resumed(others, start, {});
  resumed.resume(checkpoint);
  iterate::run(resumed);
  EXPECT_EQ(resumed.state().step, whole.state().step);
  EXPECT_EQ(resumed.objectives(), whole.objectives());
  EXPECT_TRUE(std::ranges::equal(std::span(resumed.centres().data, start.size()),
                                 std::span(whole.centres().data, start.size())));
  Solver<T> of_another(points, kmeans::random_centres(points, 3, 6), {});
  EXPECT_THAT(message_of<ArgumentError>([&] { of_another.resume(checkpoint); }), HasSubstr("expected 9"));
}

TYPED_TEST(KMeans, StartsFromTheSamePointsHoweverTheyAreSplit) {
  using T = TypeParam;
  const auto data = blobs<T>(500, 3, 5, 9);
  const Points<T> even(this->context_, part(data, Split::even));
  for (const std::uint64_t seed : {0U, 1U, 77U}) {
    const auto spread = kmeans::spread_centres(even, 20, seed);
    const auto random = kmeans::random_centres(even, 20, seed);
    std::set<std::vector<T>> rows;
    for (Index i = 0; i < data.rows; ++i) rows.emplace(data.x.begin() + i * 3, data.x.begin() + i * 3 + 3);
    std::set<std::vector<T>> distinct;
    for (Index j = 0; j < 20; ++j) {
      distinct.emplace(spread.begin() + j * 3, spread.begin() + j * 3 + 3);
      EXPECT_TRUE(rows.contains({random.begin() + j * 3, random.begin() + j * 3 + 3}));
    }
    EXPECT_EQ(distinct.size(), 20U);
    EXPECT_TRUE(std::ranges::includes(rows, distinct));
    // What all ranks hold is what one rank alone would draw.
    const mpi::Context alone(MPI_COMM_SELF);
    const Points<T> all(const_cast<mpi::Context&>(alone), {data.x.data(), data.rows, 3, 3});
    for (const Split split : {Split::ragged, Split::last}) {
      const Points<T> other(this->context_, part(data, split));
      EXPECT_EQ(kmeans::spread_centres(other, 20, seed), spread);
      EXPECT_EQ(kmeans::random_centres(other, 20, seed), random);
    }
    EXPECT_EQ(kmeans::spread_centres(all, 20, seed), spread);
    EXPECT_EQ(kmeans::random_centres(all, 20, seed), random);
  }
}

TYPED_TEST(KMeans, SpreadCentresAreDrawnByTheirSquaredDistancesAndTheBestOfTwoIsTaken) {
  using T = TypeParam;
  // From 0, the point 3 is 9 times as probable as the point 1, which is taken only where both draws are of it.
  const Data<T> data{3, 1, {T(0), T(1), T(3)}};
  const Points<T> points(this->context_, part(data, Split::even));
  int from_0 = 0;
  int to_3 = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const auto centres = kmeans::spread_centres(points, 2, seed);
    if (centres[0] != 0) continue;
    ++from_0;
    to_3 += centres[1] == 3 ? 1 : 0;
  }
  EXPECT_NEAR(from_0, 1000, 150);
  EXPECT_NEAR(static_cast<double>(to_3) / from_0, 0.99, 0.015);
}

TYPED_TEST(KMeans, TellsOfDataThatItCantUse) {
  using T = TypeParam;
  auto& context = this->context_;
  auto data = blobs<T>(40, 3, 3, 1);
  EXPECT_THAT(message_of<ArgumentError>(([&] { Points<T>(context, {data.x.data(), 0, 3, 3}); })),
              HasSubstr("0 x 3, expected points"));
  const Index own_rows = rank() == ranks() - 1 ? -1 : 5;
  EXPECT_THAT(message_of<ArgumentError>(([&] { Points<T>(context, {data.x.data(), own_rows, 3, 3}); })),
              HasSubstr("-1 x 3, expected 0 or more"));
  const Points<T> points(context, part(data, Split::even));
  EXPECT_THAT(message_of<ArgumentError>(([&] { static_cast<void>(kmeans::spread_centres(points, 41, 0)); })),
              HasSubstr("number of clusters is 41, expected from 1 to 40"));
  EXPECT_THAT(message_of<ArgumentError>(([&] { static_cast<void>(kmeans::random_centres(points, 0, 0)); })),
              HasSubstr("is 0, expected"));
  EXPECT_THAT(message_of<ArgumentError>(([&] { Solver<T>(points, std::vector<T>(7), {}); })),
              HasSubstr("7 coordinates in all, expected a multiple of the points' 3"));
  EXPECT_THAT(
      message_of<ArgumentError>(([&] { Solver<T>(points, {T(1), T(2), std::numeric_limits<T>::quiet_NaN()}, {}); })),
      AllOf(HasSubstr("nan"), HasSubstr("row 0, column 2")));
  for (const T wrong :
       {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity(), -std::numeric_limits<T>::max()}) {
    auto changed = data;
    changed.x[static_cast<std::size_t>(31 * 3 + 1)] = wrong;
    EXPECT_THAT(message_of<ArgumentError>(([&] { Points<T>(context, part(changed, Split::even)); })),
                HasSubstr("in row 31, column 1 (counted from 0)"));
  }
  for (T& x : data.x) x = std::ldexp(x, std::numeric_limits<T>::min_exponent / 2 - 20);
  EXPECT_THAT(message_of<ArgumentError>(([&] { Points<T>(context, part(data, Split::even)); })),
              HasSubstr("the data have no number above"));
}

TYPED_TEST(KMeans, HearsOfRanksThatMeanOtherOnes) {
  using T = TypeParam;
  if (ranks() == 1) return;
  const auto data = blobs<T>(40, 3, 3, 1);
  const Points<T> points(this->context_, part(data, Split::even));
  const bool is_other = rank() == 1;
  EXPECT_THAT(
      message_of<ArgumentError>(([&] { static_cast<void>(kmeans::spread_centres(points, 4, is_other ? 3 : 2)); })),
      HasSubstr("rank 1: seed: is 3, but 2 on rank 0"));
  EXPECT_THAT(
      message_of<ArgumentError>(([&] { static_cast<void>(kmeans::random_centres(points, is_other ? 5 : 4, 2)); })),
      HasSubstr("rank 1: number of clusters: is 5, but 4 on rank 0"));
  EXPECT_THAT(message_of<ArgumentError>(([&] { Solver<T>(points, first_rows(data, 4), {.batch = is_other ? 7 : 8}); })),
              HasSubstr("rank 1: number of points of a batch: is 7, but 8 on rank 0"));
}

TYPED_TEST(KMeans, TellsOfFewerDistinctPointsThanClusters) {
  using T = TypeParam;
  Data<T> data{30, 2, {}};
  for (Index i = 0; i < 30; ++i) data.x.insert(data.x.end(), {static_cast<T>(i % 3), T(1)});
  const Points<T> points(this->context_, part(data, Split::even));
  EXPECT_THAT(message_of<ArgumentError>(([&] { static_cast<void>(kmeans::spread_centres(points, 4, 0)); })),
              HasSubstr("expected at most 3, the number of distinct points"));
  Solver<T> solver(points, kmeans::random_centres(points, 4, 0), {});
  EXPECT_THAT(message_of<ArgumentError>([&] { iterate::run(solver); }),
              HasSubstr("expected at most 3, the number of distinct points"));
}

TYPED_TEST(KMeans, TakesNumbersOfAnySize) {
  using T = TypeParam;
  const int large = std::numeric_limits<T>::max_exponent / 2 - 12;
  const int small = -std::numeric_limits<T>::max_exponent / 2 + 20;
  for (const int power : {large, small}) {
    auto data = blobs<T>(400, 2, 6, 2);
    for (T& x : data.x) x = std::ldexp(x, power);
    const Points<T> points(this->context_, part(data, Split::even));
    Naive<T> naive{{}, first_rows(data, 6), {}};
    Solver<T> solver(points, naive.centres, {.bounds = Bounds::always});
    while (solver.advance()) naive.iterate(data);
    EXPECT_TRUE(std::ranges::equal(std::span(solver.centres().data, naive.centres.size()), naive.centres)) << power;
  }
  // Of very different sizes side by side.
  Data<T> mixed{4,
                2,
                {T(1), T(0), std::ldexp(T(1), large), std::ldexp(T(1), -100), T(2), T(0), std::ldexp(T(1), large),
                 -std::ldexp(T(1), -100)}};
  const Points<T> points(this->context_, part(mixed, Split::even));
  Solver<T> solver(points, {T(1), T(0), std::ldexp(T(1), large), T(0)}, {});
  iterate::run(solver);
  EXPECT_EQ(std::vector<T>(solver.centres().data, solver.centres().data + 4),
            (std::vector<T>{T(1.5), T(0), std::ldexp(T(1), large), T(0)}));
}

}  // namespace
}  // namespace plait::test
