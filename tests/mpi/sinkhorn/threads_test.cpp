// One sum for each number of threads: what threads find is added up in one order.
#include <omp.h>

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/sinkhorn/balance/balance.hpp"
#include "plait/sinkhorn/grid/grid.hpp"
#include "plait/sinkhorn/marginals/matrix_check.hpp"
#include "plait/sinkhorn/scaling/scale.hpp"
#include "plait/sinkhorn/sweep/sweep.hpp"
#include "plait/sinkhorn/transport/barycentre.hpp"
#include "plait/sinkhorn/transport/transport.hpp"

#include "mpi/sinkhorn/problem.hpp"
#include "support/message_of.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

using sinkhorn::Domain;
using sinkhorn::Limits;
using sinkhorn::Marginals;
using sinkhorn::TransportOptions;
using ::testing::HasSubstr;

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

TEST_F(SlabsOfRows, GiveTheSameBitsWithAnyNumberOfThreadsOfBalanceAndOfErrors) {
  WholeProblem symmetric = random_problem(400, 400, 6);
  for (Index i = 0; i < 400; ++i) {
    for (Index j = 0; j < i; ++j) symmetric(i, j) = symmetric(j, i);
  }
  const OwnRows<double> own_symmetric(symmetric);
  expect_one_result([&] { return sinkhorn::balance<double>(context, own_symmetric.const_view(), 1, limits).x; });
  expect_one_result([&] { return sinkhorn::balance<double>(context, sparse<double>(symmetric), 1, limits).x; });

  const auto checked = sinkhorn::checked_marginals(context, own.rows, own.columns, marginals);
  const auto errors_of = [&](const auto& plan) {
    const auto errors = sinkhorn::marginal_sums<double>(context, plan, checked).errors(context);
    EXPECT_GT(errors.rows, 0);
    return std::vector{errors.rows, errors.columns, errors.mass};
  };
  expect_one_result([&] { return errors_of(own.const_view()); });
  expect_one_result([&] { return errors_of(sparse<double>(whole)); });
  expect_one_result([&] {
    OwnRows<double> plan(whole);
    const std::vector<double> u(static_cast<std::size_t>(own.rows), 0.3);
    sinkhorn::plan_in_place<double, double>(plan.view(), u, whole.c, context.topology().threads());
    return plan.elements;
  });
}

TEST_F(SlabsOfRows, FindTheSameMistakesWithAnyNumberOfThreads) {
  const auto checked = sinkhorn::checked_marginals(context, own.rows, own.columns, marginals);
  WholeProblem wrong = whole;
  wrong(650, 17) = wrong(433, 250) = wrong(433, 9) = -1;
  const OwnRows<double> own_wrong(wrong);
  const auto check = [&] { sinkhorn::check_matrix<double>(context, own_wrong.const_view(), {&checked, 1}); };
  expect_one_result([&] { return message_of<ArgumentError>(check); });
  EXPECT_THAT(message_of<ArgumentError>(check), HasSubstr("the entry in row 433, column 9 is -1"));

  for (Index i = 0; i < 700; ++i) wrong(i, 40) = 0;
  wrong(650, 17) = wrong(433, 250) = wrong(433, 9) = 1;
  const OwnRows<double> without_column(wrong);
  const auto check_column = [&] {
    sinkhorn::check_matrix<double>(context, without_column.const_view(), {&checked, 1});
  };
  expect_one_result([&] { return message_of<ArgumentError>(check_column); });
  EXPECT_THAT(message_of<ArgumentError>(check_column), HasSubstr("column 40 has only zeros"));

  WholeProblem symmetric{400, 400, std::vector<double>(160'000, 1.0), {}, {}};
  symmetric(380, 2) = symmetric(399, 398) = symmetric(7, 301) = 2;
  const auto expect_message = [&](const auto& rows) {
    const auto compare = [&] { sinkhorn::expect_symmetric<double>(context, rows); };
    expect_one_result([&] { return message_of<ArgumentError>(compare); });
    return message_of<ArgumentError>(compare);
  };
  const OwnRows<double> own_symmetric(symmetric);
  // The first one of the lowest rank that has found any.
  EXPECT_THAT(expect_message(own_symmetric.const_view()), HasSubstr("the entry in row 2, column 380 is 1"));
  EXPECT_THAT(expect_message(sparse<double>(symmetric)), HasSubstr("the entry in row 2, column 380 is 1"));
}

}  // namespace
}  // namespace plait::test
