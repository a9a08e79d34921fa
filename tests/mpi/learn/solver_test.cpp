#include "plait/learn/solver.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/base/random.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/context.hpp"

#include "mpi/learn/samples.hpp"
#include "support/message_of.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

using learn::Method;
using learn::Model;
using learn::Objective;
using learn::Options;
using learn::Samples;
using learn::Solver;
using learn::Weights;
using ::testing::HasSubstr;

static_assert(iterate::Solver<Solver>);

/// Numbers with all their digits, whose columns differ in mean and unit; targets from 0 to classes - 1.
Data data_of(Index rows, Index columns, Index classes, std::uint64_t seed = 3) {
  Data data{rows, columns, {}, {}};
  for (Index i = 0; i < rows; ++i) {
    double sum = 0;
    for (Index c = 0; c < columns; ++c) {
      const double u = random_uniform(seed, static_cast<std::uint64_t>(i * columns + c));
      data.x.push_back(std::ldexp(u + 0.1 * static_cast<double>(c), static_cast<int>(c % 7) - 3));
      sum += u;
    }
    const double noise = random_uniform(seed + 1, static_cast<std::uint64_t>(i));
    data.y.push_back(std::floor((sum / static_cast<double>(columns) + noise) / 2 * static_cast<double>(classes)));
  }
  for (Index k = 0; k < classes; ++k) data.y[static_cast<std::size_t>(k)] = static_cast<double>(k);
  return data;
}

struct Case {
  Model model;
  Index classes;
};
constexpr std::array cases{Case{Model::linear, 5}, Case{Model::logistic, 2}, Case{Model::logistic, 4},
                           Case{Model::svm, 2}, Case{Model::svm, 4}};

constexpr iterate::Limits precise{1e-8, 10'000};

class Learn : public ::testing::Test {
 protected:
  mpi::Context context_{test_comm()};
};

TEST_F(Learn, gradients_are_what_differences_of_the_objective_are) {
  for (const auto& [model, classes] : cases) {
    for (const bool intercept : {true, false}) {
      const Data data = data_of(97, 11, classes);
      const auto [rows, targets] = part(data, Split::ragged);
      const Samples samples(context_, rows, targets, model);
      Objective objective(samples, 0.03, intercept);
      Weights u;
      for (Index i = 0; i < objective.size(); ++i) {
        u.push_back(random_uniform(9, static_cast<std::uint64_t>(i)) - 0.5);
      }
      Objective::Value here, there;
      objective.evaluate(u, here);
      for (Index i = 0; i < objective.size(); ++i) {
        constexpr double step = 0x1p-14;
        Weights near = u;
        near[i] += step;
        objective.evaluate(near, there);
        const double above = there.objective;
        near[i] -= 2 * step;
        objective.evaluate(near, there);
        const double difference = (above - there.objective) / (2 * step);
        EXPECT_NEAR(here.gradient[i], difference, 1e-6 * (1 + std::abs(difference)))
            << "model " << static_cast<int>(model) << ", variable " << i;
      }
    }
  }
}

TEST_F(Learn, the_gradient_of_a_batch_is_its_part_of_that_of_all) {
  const Data data = data_of(400, 5, 3);
  const auto [rows, targets] = part(data, Split::even);
  const Samples samples(context_, rows, targets, Model::logistic);
  Objective objective(samples, 0.1, true);
  Weights u(objective.size(), 0.25);
  const Weights origin(objective.size());
  Vector<Index> all;
  for (Index i = 0; i < rows.rows; ++i) all.push_back(i);
  Weights difference;
  objective.difference(u, origin, all, 400, difference);
  Objective::Value here, there;
  objective.evaluate(u, here);
  objective.evaluate(origin, there);
  for (Index i = 0; i < u.count(); ++i) {
    EXPECT_NEAR(difference[i], here.gradient[i] - there.gradient[i], 1e-14);
  }
}

TEST_F(Learn, weights_have_the_same_bits_whoever_has_which_sample) {
  for (const auto& [model, classes] : cases) {
    for (const Method method : {Method::lbfgs, Method::batch, Method::minibatch, Method::sgd}) {
      const Data data = data_of(83, 9, classes);
      // What one rank that has all makes of it.
      std::vector<Weights> found;
      mpi::Context alone(MPI_COMM_SELF);
      const auto fit = [&, model = model](mpi::Context& context, const Part& its,
                                          iterate::Exchange exchange = iterate::Exchange::states) {
        const Samples samples(context, its.rows, its.targets, model, {0.2, 1});
        Solver solver(samples, {.limits = {1e-9, 3}, .method = method, .batch = 7, .seed = 5, .exchange = exchange});
        iterate::run(solver);
        found.push_back(solver.weights());
      };
      fit(alone, {{data.x.data(), data.rows, data.columns, data.columns}, data.y});
      for (const Split split : {Split::even, Split::ragged, Split::last}) fit(context_, part(data, split));
      fit(context_, part(data, Split::ragged), iterate::Exchange::server);
      for (const Weights& each : found) {
        EXPECT_EQ(each, found[0]) << "model " << static_cast<int>(model) << ", " << name(method);
      }
    }
  }
}

/// Samples with one column that is `mean` but for about `spread`, and a target that this tells with noise: more than
/// 1/2, or `offset` and the sum.
Data offset_data(double mean, double spread, bool is_class, double offset = 0) {
  Data data{200, 1, {}, {}};
  for (Index i = 0; i < data.rows; ++i) {
    const double u = random_uniform(3, static_cast<std::uint64_t>(i)) - 0.5;
    const double noise = 0.3 * (random_uniform(4, static_cast<std::uint64_t>(i)) - 0.5);
    data.x.push_back(mean + spread * u);
    data.y.push_back(is_class ? (u + noise > 0 ? 1 : 0) : offset + u + noise);
  }
  return data;
}

TEST_F(Learn, a_column_that_varies_by_little_tells_as_much_as_one_around_0) {
  for (const bool is_class : {false, true}) {
    const auto fit = [&](double mean, double spread, double offset) {
      const Data data = offset_data(mean, spread, is_class, offset);
      const auto [rows, targets] = part(data, Split::ragged);
      const Samples samples(context_, rows, targets, is_class ? Model::svm : Model::linear);
      Solver solver(samples, {.limits = precise, .l2 = 0});
      iterate::run(solver);
      EXPECT_EQ(solver.state().end, iterate::End::converged) << mean << " ± " << spread;
      return std::array{solver.objectives().back(), solver.quality().training, solver.weights()[0] * spread};
    };
    const auto expected = fit(0, 1, 0);
    EXPECT_GT(expected[1], 0.85);
    for (const auto& [mean, spread, offset] : {std::array{100.0, 1e-9, 0.0},
                                               {1.0, 1e-12, 0.0},
                                               {-1e9, 1e-3, 0.0},
                                               {0.0, 1e-170, 0.0},
                                               {0.0, 0x1p190, 0.0},
                                               {3.0, 1.0, 1e11}}) {
      const auto found = fit(mean, spread, offset);
      for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_NEAR(found[i], expected[i], 1e-3 * std::abs(expected[i]))
            << mean << " ± " << spread << ", targets from " << offset << ", number " << i;
      }
    }
  }
}

TEST_F(Learn, the_objective_is_that_of_outputs_also_where_columns_nearly_depend_on_each_other) {
  Data data = offset_data(0, 1, false);
  data.columns = 2;
  Vector<double> pairs;
  for (Index i = 0; i < data.rows; ++i) {
    const double x = data.x[static_cast<std::size_t>(i)];
    pairs.push_back(x);
    pairs.push_back(x + 0x1p-34 * random_uniform(8, static_cast<std::uint64_t>(i)));
  }
  data.x.assign(pairs.begin(), pairs.end());
  const auto [rows, targets] = part(data, Split::even);
  const Samples samples(context_, rows, targets, Model::linear);
  Objective objective(samples, 0, true);
  const Weights u{0x1p34, -0x1p34, 0};
  Objective::Value value;
  objective.evaluate(u, value);
  double sum = 0;
  mpi::Context alone(MPI_COMM_SELF);
  const Samples all(alone, {data.x.data(), data.rows, 2, 2}, data.y, Model::linear);
  Objective of_all(all, 0, true);
  std::vector<double> z;
  for (Index i = 0; i < data.rows; ++i) {
    of_all.model(u).outputs(all.own(), {&i, 1}, z);
    sum += (z[0] - all.target(i)) * (z[0] - all.target(i)) / 2;
  }
  EXPECT_NEAR(value.objective, sum / 200, 1e-9 * sum / 200);
}

TEST_F(Learn, numbers_that_are_held_out_have_no_influence) {
  Data data = data_of(60, 3, 2);
  std::vector<Weights> found;
  for (const double outlier : {0.0, 0x1p150}) {
    const learn::HeldOut held_out{0.3, 4};
    for (Index i = 0; i < data.rows; ++i) {
      if (held_out.has(i)) data.x[static_cast<std::size_t>(3 * i + 1)] = outlier;
    }
    const auto [rows, targets] = part(data, Split::ragged);
    const Samples samples(context_, rows, targets, Model::logistic, held_out);
    Solver solver(samples, {.limits = precise});
    iterate::run(solver);
    found.push_back(solver.weights());
  }
  EXPECT_EQ(found[0], found[1]);
}

TEST_F(Learn, ranks_that_learn_by_themselves_and_average_come_near_the_least_value) {
  for (const auto& [model, classes] : cases) {
    const Data data = data_of(600, 6, classes);
    for (const Split split : {Split::even, Split::ragged, Split::last}) {
      const auto [rows, targets] = part(data, split);
      const Samples samples(context_, rows, targets, model);
      Solver exact(samples, {.limits = precise, .l2 = 0.01});
      iterate::run(exact);
      Solver near(samples, {.limits = {1e-8, 40}, .method = Method::parallel_sgd, .l2 = 0.01});
      iterate::run(near);
      const double least = exact.objectives().back();
      EXPECT_EQ(near.state().end, iterate::End::finished);
      EXPECT_GE(near.objectives().back(), least);
      EXPECT_LT(near.objectives().back(), 1.03 * least) << "model " << static_cast<int>(model);
    }
  }
}

TEST_F(Learn, ranks_that_do_not_wait_for_each_other_reach_the_same_point) {
  for (const auto& [model, classes] : cases) {
    const Data data = data_of(300, 4, classes);
    for (const Split split : {Split::even, Split::ragged, Split::last}) {
      const auto [rows, targets] = part(data, split);
      const Samples samples(context_, rows, targets, model);
      Solver exact(samples, {.limits = precise, .l2 = 0.1});
      iterate::run(exact);
      const Weights expected = exact.weights();
      double largest = 0;
      for (const double each : expected) largest = std::max(largest, std::abs(each));
      for (const auto exchange : {iterate::Exchange::states, iterate::Exchange::gossip, iterate::Exchange::server}) {
        Solver found(samples,
                     {.limits = {1e-8, 500}, .method = Method::asgd, .l2 = 0.1, .batch = 8, .exchange = exchange});
        iterate::run(found);
        EXPECT_EQ(found.state().end, iterate::End::converged)
            << "model " << static_cast<int>(model) << ", " << name(exchange);
        const Weights weights = found.weights();
        for (Index i = 0; i < expected.count(); ++i) EXPECT_NEAR(weights[i], expected[i], 1e-6 * largest);
      }
    }
  }
}

TEST_F(Learn, ranks_with_one_class_each_reach_the_point_of_all) {
  Data data = data_of(400, 3, 2);
  std::vector<Index> order(static_cast<std::size_t>(data.rows));
  std::iota(order.begin(), order.end(), Index{0});
  std::ranges::stable_sort(order, {}, [&](Index i) { return data.y[static_cast<std::size_t>(i)]; });
  Data sorted{data.rows, data.columns, {}, {}};
  for (const Index i : order) {
    const auto begin = data.x.begin() + i * data.columns;
    sorted.x.insert(sorted.x.end(), begin, begin + data.columns);
    sorted.y.push_back(data.y[static_cast<std::size_t>(i)]);
  }
  const auto [rows, targets] = part(sorted, Split::even);
  const Samples samples(context_, rows, targets, Model::logistic);
  Solver solver(samples, {.limits = {1e-7, 1000}, .method = Method::asgd, .l2 = 0.01, .batch = 16});
  iterate::run(solver);
  EXPECT_EQ(solver.state().end, iterate::End::converged);
}

// Of one start and as many epochs, with twelve seeds: the margin is wide, as one of both goes on converging.
TEST_F(Learn, ranks_that_exchange_states_come_nearer_than_those_that_average_at_the_end) {
  const Data data = data_of(400, 6, 2);
  const auto [rows, targets] = part(data, Split::even);
  const Samples samples(context_, rows, targets, Model::logistic);
  Solver exact(samples, {.limits = precise, .l2 = 0.01});
  iterate::run(exact);
  int nearer = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const auto after_epochs = [&](Method method) {
      Solver solver(samples, {{1e-12, 10}, method, 0.01, true, 8, 0, seed});
      iterate::run(solver);
      return solver.objectives().back() - exact.objectives().back();
    };
    nearer += after_epochs(Method::asgd) < after_epochs(Method::parallel_sgd) ? 1 : 0;
  }
  EXPECT_GE(nearer, 10);
}

TEST_F(Learn, states_of_others_are_taken_unless_there_is_no_exchange) {
  const Data data = data_of(4000, 4, 2);
  const auto [rows, targets] = part(data, Split::even);
  const Samples samples(context_, rows, targets, Model::logistic);
  for (const auto exchange : {iterate::Exchange::states, iterate::Exchange::nothing}) {
    Solver solver(samples, {.limits = {1e-7, 50}, .method = Method::asgd, .l2 = 0.1, .batch = 4, .exchange = exchange});
    iterate::run(solver);
    EXPECT_EQ(solver.state().end, iterate::End::converged);
    const Index taken = mpi::all_reduce(context_.comm(), solver.mixed(), mpi::Operation::sum());
    EXPECT_EQ(taken > 0, exchange == iterate::Exchange::states && ranks() > 1);
  }
}

TEST_F(Learn, a_run_that_begins_with_weights_goes_on_from_them) {
  for (const auto& [model, classes] : cases) {
    for (const bool intercept : {true, false}) {
      const Data data = data_of(120, 5, classes);
      const auto [rows, targets] = part(data, Split::ragged);
      const Samples samples(context_, rows, targets, model);
      Solver whole(samples, {.limits = precise, .l2 = 0.1, .intercept = intercept});
      iterate::run(whole);
      const Weights found = whole.weights();
      Solver again(samples, {.limits = {1e-6, 5}, .l2 = 0.1, .intercept = intercept}, &found);
      iterate::run(again);
      EXPECT_LE(again.state().step, 1);
      for (Index i = 0; i < found.count(); ++i) EXPECT_NEAR(again.weights()[i], found[i], 1e-9 * std::abs(found[i]));
    }
  }
  const Data data = data_of(20, 3, 2);
  const auto [rows, targets] = part(data, Split::even);
  const Samples samples(context_, rows, targets, Model::svm);
  const Weights few(2), wrong(4, std::nan(""));
  EXPECT_THAT(message_of<ArgumentError>(([&] { Solver(samples, {}, &few); })),
              HasSubstr("there are 2 weights to begin with, expected 4"));
  EXPECT_THAT(message_of<ArgumentError>(([&] { Solver(samples, {}, &wrong); })),
              HasSubstr("weights to begin with have nan"));
}

TEST_F(Learn, floats_are_the_numbers_that_they_are) {
  Data data = data_of(50, 4, 2);
  std::vector<float> narrow;
  for (double& x : data.x) {
    narrow.push_back(static_cast<float>(x));
    x = double{narrow.back()};
  }
  const auto [rows, targets] = part(data, Split::even);
  const Samples samples(context_, rows, targets, Model::logistic);
  const simd::RowBlock<const float> same{narrow.data() + (rows.data - data.x.data()), rows.rows, rows.columns,
                                         rows.columns};
  const Samples floats(context_, same, targets, Model::logistic);
  Solver solver(samples, {.limits = precise});
  Solver of_floats(floats, {.limits = precise});
  iterate::run(solver);
  iterate::run(of_floats);
  EXPECT_EQ(solver.state().end, iterate::End::converged);
  EXPECT_EQ(solver.weights(), of_floats.weights());
}

TEST_F(Learn, a_run_ends_where_rounding_leaves_nothing_to_gain) {
  const Data data = data_of(70, 6, 3);
  const auto [rows, targets] = part(data, Split::even);
  for (const Method method : {Method::lbfgs, Method::batch}) {
    const Samples samples(context_, rows, targets, Model::logistic);
    Solver solver(samples, {.limits = {0, 100'000}, .method = method, .l2 = 0.1});
    iterate::run(solver);
    EXPECT_EQ(solver.state().end, iterate::End::numbers) << name(method);
    EXPECT_LT(solver.state().error, 1e-13);
    EXPECT_LT(solver.state().step, 3000);
  }
}

TEST_F(Learn, wrong_arguments_are_named_on_all_ranks) {
  const Data data = data_of(20, 3, 2);
  const Part own = part(data, Split::even);
  const auto& rows = own.rows;
  const auto& targets = own.targets;
  const auto makes = [&](const Options& options) {
    return [&, options] {
      const Samples samples(context_, rows, targets, Model::svm);
      Solver(samples, options);
    };
  };
  EXPECT_THAT(message_of<ArgumentError>(makes({.l2 = -1})), HasSubstr("the weight of the square is -1"));
  EXPECT_THAT(message_of<ArgumentError>(makes({.batch = 0})), HasSubstr("samples of a batch is 0"));
  EXPECT_THAT(message_of<ArgumentError>(makes({.limits = {-1, 1}})), HasSubstr("tolerance"));
  EXPECT_THAT(message_of<ArgumentError>(([&] {
                Samples(context_, rows, targets.first(targets.empty() ? 0 : targets.size() - 1), Model::linear);
              })),
              HasSubstr("one for each sample"));
  EXPECT_THAT(message_of<ArgumentError>(([&] { Samples(context_, {data.x.data(), 0, 3, 3}, {}, Model::linear); })),
              HasSubstr("0 x 3, expected samples"));
  EXPECT_THAT(message_of<ArgumentError>(([&] { Samples(context_, rows, targets, Model::linear, {1.5, 0}); })),
              HasSubstr("held out is 1.5"));
}

}  // namespace
}  // namespace plait::test
