// One sum for each number of threads: what threads find is added up in one order.
#include <omp.h>

#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "plait/sinkhorn/grid/grid.hpp"
#include "plait/sinkhorn/scaling/scale.hpp"
#include "plait/sinkhorn/sweep/slabs.hpp"
#include "plait/sinkhorn/transport/barycentre.hpp"
#include "plait/sinkhorn/transport/transport.hpp"

#include "mpi/sinkhorn/problem.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

using sinkhorn::Domain;
using sinkhorn::Limits;
using sinkhorn::Marginals;
using sinkhorn::TransportOptions;

/// While one lives, OpenMP has so many threads.
class ThreadsOfOpenMp {
 public:
  explicit ThreadsOfOpenMp(int count) { omp_set_num_threads(count); }
  ThreadsOfOpenMp(const ThreadsOfOpenMp&) = delete;
  ThreadsOfOpenMp& operator=(const ThreadsOfOpenMp&) = delete;
  ~ThreadsOfOpenMp() { omp_set_num_threads(before_); }

 private:
  int before_ = omp_get_max_threads();
};

struct SlabsOfRows : ::testing::Test {
  mpi::Context context{test_comm()};
  WholeProblem whole = random_problem(700, 251, 5);
  OwnRows<double> own{whole};
  OwnRows<float> own_floats{whole};
  Limits limits{.tolerance = 0, .most_iterations = 6};
  Marginals marginals{own.r, whole.c};

  /// What solve() gives, a vector of numbers, with 1, 3 and 5 threads.
  template <class F>
  void expect_one_result(const F& solve) {
    const ThreadsOfOpenMp one(1);
    const auto expected = solve();
    for (const int threads : {3, 5}) {  // no machine's own number
      const ThreadsOfOpenMp many(threads);
      ASSERT_EQ(context.topology().threads(), threads);
      ASSERT_EQ(solve(), expected) << threads << " threads";
    }
  }

  template <class Found>
  static auto numbers_of(const Found& found) {
    auto numbers = found.f;
    numbers.insert(numbers.end(), found.g.begin(), found.g.end());
    for (const double value : {found.cost, found.dual, found.primal, found.mass}) {
      numbers.push_back(static_cast<typename decltype(numbers)::value_type>(value));
    }
    return numbers;
  }
};

TEST_F(SlabsOfRows, GiveTheSameBitsWithAnyNumberOfThreadsByFactors) {
  const auto scaled = [&](const auto& rows) {
    auto found = sinkhorn::scale<double, double>(context, rows, marginals, limits);
    found.u.insert(found.u.end(), found.v.begin(), found.v.end());
    return found.u;
  };
  expect_one_result([&] { return scaled(own.const_view()); });
  expect_one_result([&] { return scaled(sparse<double>(whole)); });
  expect_one_result([&] {
    const auto both = sinkhorn::scale_batch<float, float>(context, own_floats.const_view(),
                                                          std::vector{marginals, Marginals{}}, limits);
    return std::pair{both[0].v, both[1].u};
  });
  for (Index i = 0; i < own.rows; ++i) {
    for (Index j = 0; j < 200; ++j)
      own.elements[static_cast<std::size_t>(i * (own.columns + 2) + (j + 64 * (i / 8)) % 251)] = 0;
  }
  expect_one_result([&] { return scaled(own.const_view()); });
}

TEST_F(SlabsOfRows, GiveTheSameBitsWithAnyNumberOfThreadsOnAGrid) {
  const layout::ProcessGrid grid{1, ranks()};
  const auto place = sinkhorn::block_place(grid, {whole.rows, whole.columns}, rank());
  const matrix_view<const double> block(whole.entries.data() + place.first_column, place.rows, place.columns,
                                        whole.columns, StorageOrder::row_major);
  expect_one_result([&] {
    const auto found = sinkhorn::scale_on_grid<double, double>(context, grid, {whole.rows, whole.columns}, block,
                                                               {whole.r, whole.c}, limits);
    return std::pair{found.u, found.v};
  });
}

TEST_F(SlabsOfRows, GiveTheSameBitsWithAnyNumberOfThreadsAlongAxes) {
  const sinkhorn::NodeGrid nodes{2, {25, 28, 1}, {0.04, 0.04, 1}};
  const sinkhorn::PointClouds<double> clouds{{nullptr, own.rows, 0, 1, StorageOrder::row_major},
                                             {nullptr, 700, 0, 1, StorageOrder::row_major},
                                             sinkhorn::Metric::squared_euclidean,
                                             2,
                                             nodes,
                                             own.first};
  for (const double epsilon : {0.1, 1e-4}) {
    const TransportOptions options{.epsilon = epsilon, .first_epsilon = epsilon, .limits = limits};
    expect_one_result(
        [&] { return numbers_of(sinkhorn::transport<double>(context, clouds, {own.r, whole.r}, options)); });
  }
}

TEST_F(SlabsOfRows, GiveTheSameBitsWithAnyNumberOfThreadsByLogarithms) {
  TransportOptions options{.epsilon = 0.1, .domain = Domain::logarithmic, .limits = limits};
  const auto transported = [&] {
    return numbers_of(sinkhorn::transport<double, double>(context, own.const_view(), marginals, options));
  };
  expect_one_result(transported);
  options.rho = {2, 3};
  expect_one_result(transported);
  const auto points_of = [](Index n, std::uint64_t seed) {
    std::vector<float> values;
    for (const double value : points(n * 2, seed)) values.push_back(static_cast<float>(value));
    return values;
  };
  const auto x = points_of(own.rows, static_cast<std::uint64_t>(own.first));
  const auto y = points_of(own.columns, 9);
  const sinkhorn::PointClouds<float> clouds{{x.data(), own.rows, 2, 2, StorageOrder::row_major},
                                            {y.data(), own.columns, 2, 2, StorageOrder::row_major}};
  expect_one_result([&] { return numbers_of(sinkhorn::transport<float>(context, clouds, marginals, options)); });
}

TEST_F(SlabsOfRows, GiveTheSameBitsWithAnyNumberOfThreadsOfBarycentres) {
  std::vector<double> other(whole.c.rbegin(), whole.c.rend());
  for (const Domain domain : {Domain::factors, Domain::logarithmic}) {
    expect_one_result([&] {
      const auto found = sinkhorn::barycentre<double>(context, own.const_view(), {{whole.c, other}, {}},
                                                      {.epsilon = 0.1, .domain = domain, .limits = limits});
      return std::pair{found.masses, found.costs};
    });
  }
}

}  // namespace
}  // namespace plait::test
