#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/base/random.hpp"
#include "plait/kmeans/solver.hpp"
#include "plait/kmeans/start.hpp"
#include "plait/mpi/context.hpp"

#include "support/message_of.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

using kmeans::Draw;
using kmeans::Options;
using kmeans::Points;
using kmeans::Solver;
using ::testing::HasSubstr;

constexpr Index columns = 3;
constexpr Index clusters = 6;

/// Points in boxes of width 1 around centres that are 4 apart, in an order that tells nothing, or box by box.
template <class T>
std::vector<T> boxes(Index rows, bool is_sorted = false) {
  std::vector<T> x;
  for (Index i = 0; i < rows; ++i) {
    const auto row = static_cast<std::uint64_t>(i);
    const Index box = is_sorted ? i * clusters / rows : static_cast<Index>(random_bits(1, row) % clusters);
    for (Index c = 0; c < columns; ++c) {
      const double middle = 4 * static_cast<double>((box + c * c) % clusters);
      x.push_back(static_cast<T>(middle + random_uniform(2, row * columns + static_cast<std::uint64_t>(c))));
    }
  }
  return x;
}

template <class T>
simd::RowBlock<const T> part(const std::vector<T>& x, bool is_ragged = false) {
  const auto rows = static_cast<Index>(x.size()) / columns;
  const auto begin_of = [&](Index of) {
    return is_ragged ? rows * of * of / (ranks() * ranks()) : rows * of / ranks();
  };
  return {x.data() + begin_of(rank()) * columns, begin_of(rank() + 1) - begin_of(rank()), columns, columns};
}

/// One point of each box, so that all go down to the same place.
template <class T>
std::vector<T> start_of(const std::vector<T>& sorted) {
  std::vector<T> start;
  const auto rows = static_cast<Index>(sorted.size()) / columns;
  for (Index j = 0; j < clusters; ++j) {
    const auto begin = sorted.begin() + (j * rows / clusters + 1) * columns;
    start.insert(start.end(), begin, begin + columns);
  }
  return start;
}

template <class T>
std::vector<T> centres_of(const Solver<T>& solver) {
  return {solver.centres().data, solver.centres().data + clusters * columns};
}

template <class T>
struct KMeansDescent : ::testing::Test {
  mpi::Context context{test_comm()};
};
using Numbers = ::testing::Types<float, double>;
TYPED_TEST_SUITE(KMeansDescent, Numbers);

TYPED_TEST(KMeansDescent, has_the_same_bits_whoever_has_which_point) {
  using T = TypeParam;
  const auto x = boxes<T>(700);
  mpi::Context alone(MPI_COMM_SELF);
  const Points<T> all(alone, {x.data(), 700, columns, columns});
  for (const Draw draw : {Draw::batches, Draw::points}) {
    const Options options{.limits = {0, 3}, .draw = draw, .batch = 50, .seed = 4};
    Solver<T> expected(all, kmeans::random_centres(all, clusters, 3), options);
    iterate::run(expected);
    for (const bool is_ragged : {false, true}) {
      const Points<T> points(this->context, part(x, is_ragged));
      Solver<T> found(points, kmeans::random_centres(points, clusters, 3), options);
      iterate::run(found);
      EXPECT_EQ(centres_of(found), centres_of(expected)) << static_cast<int>(draw);
      EXPECT_EQ(found.objectives(), expected.objectives());
    }
  }
}

TYPED_TEST(KMeansDescent, of_a_single_point_at_a_time_is_that_of_the_textbook) {
  using T = TypeParam;
  const auto x = boxes<T>(300);
  const Points<T> points(this->context, part(x));
  const auto start = kmeans::random_centres(points, clusters, 3);
  Solver<T> found(points, start, {.limits = {0, 2}, .draw = Draw::points, .seed = 8});
  iterate::run(found);
  std::vector<double> centres(start.begin(), start.end());
  std::vector<double> had(clusters);
  for (std::uint64_t t = 0; t < 600; ++t) {
    const T* point = x.data() + random_bits(8, t) % 300 * columns;
    std::size_t nearest = 0;
    double least = HUGE_VAL;
    for (std::size_t j = 0; j < clusters; ++j) {
      double squared = 0;
      for (std::size_t c = 0; c < columns; ++c) squared += std::pow(centres[j * columns + c] - double{point[c]}, 2);
      if (squared < least) nearest = j;
      least = std::min(least, squared);
    }
    ++had[nearest];
    for (std::size_t c = 0; c < columns; ++c) {
      double& centre = centres[nearest * columns + c];
      centre += (double{point[c]} - centre) / had[nearest];
    }
  }
  for (std::size_t i = 0; i < centres.size(); ++i) EXPECT_NEAR(double{found.centres().data[i]}, centres[i], 1e-5);
}

TYPED_TEST(KMeansDescent, comes_near_the_means_by_all_ways_also_where_each_rank_has_other_clusters) {
  using T = TypeParam;
  for (const bool is_sorted : {false, true}) {
    const auto x = boxes<T>(3000, is_sorted);
    const Points<T> points(this->context, part(x));
    const auto start = start_of(boxes<T>(3000, true));
    Solver<T> exact(points, start, {});
    iterate::run(exact);
    for (const Draw draw : {Draw::batches, Draw::points, Draw::own_batches}) {
      for (const auto exchange : {iterate::Exchange::states, iterate::Exchange::nothing}) {
        Solver<T> descent(points, start, {{0, 8}, draw, 20, 0, 5, exchange});
        iterate::run(descent);
        EXPECT_EQ(descent.state().step, 8);
        const double least = exact.objectives().back();
        EXPECT_LT(descent.objectives().back(), 1.02 * least) << static_cast<int>(draw) << ", sorted " << is_sorted;
        EXPECT_GE(descent.objectives().back(), least * (1 - 1e-5));
        Solver<T> solver(points, centres_of(descent), {});
        EXPECT_NEAR(solver.conclude().objective, descent.objectives().back(), 1e-6 * least);
      }
    }
  }
}

TYPED_TEST(KMeansDescent, refuses_what_is_wrong_on_all_ranks) {
  using T = TypeParam;
  const auto x = boxes<T>(60);
  const Points<T> points(this->context, part(x));
  EXPECT_THAT(message_of<ArgumentError>(([&] {
                Solver<T>(points, kmeans::random_centres(points, 2, 0), {.draw = Draw::batches, .batch = 0});
              })),
              HasSubstr("the number of points of a batch is 0"));
  EXPECT_THAT(message_of<ArgumentError>(([&] { Solver<T>(points, std::vector<T>(4), {.draw = Draw::batches}); })),
              HasSubstr("the centres have 4 coordinates in all"));
}

}  // namespace
}  // namespace plait::test
