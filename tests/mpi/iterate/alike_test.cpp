#include <cmath>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/iterate/asynchronous_descent.hpp"
#include "plait/iterate/solver.hpp"
#include "plait/kmeans/points.hpp"
#include "plait/kmeans/solver.hpp"
#include "plait/kmeans/start.hpp"
#include "plait/krylov/conjugate_gradient.hpp"
#include "plait/krylov/lanczos.hpp"
#include "plait/learn/network/training.hpp"
#include "plait/learn/samples.hpp"
#include "plait/learn/solver.hpp"
#include "plait/mpi/context.hpp"
#include "plait/mpi/mailbox.hpp"
#include "plait/partition/order.hpp"
#include "plait/partition/repartition.hpp"
#include "plait/partition/spectral.hpp"
#include "plait/poisson/solver.hpp"
#include "plait/purify/dense_products.hpp"
#include "plait/purify/eigenstates.hpp"
#include "plait/purify/purification.hpp"

#include "support/message_of.hpp"
#include "support/ranks.hpp"
#include "unit/partition/graphs.hpp"

namespace plait::test {
namespace {

using krylov::LanczosOptions;

/// What solvers begin with, given other arguments on the last rank.
class Alike : public ::testing::Test {
 protected:
  void expect_refused(const std::string& argument, const std::function<void()>& call) {
    if (ranks() == 1) return;
    EXPECT_THAT(message_of<ArgumentError>(call), ::testing::HasSubstr(argument)) << argument;
  }

  /// The second number on the last rank, the first one elsewhere.
  template <class T>
  [[nodiscard]] T other(T usual, T last) const {
    return rank() + 1 == ranks() ? last : usual;
  }

  mpi::Context context_{test_comm()};
};

TEST_F(Alike, are_the_types_of_data) {
  const bool is_last = rank() + 1 == ranks();
  const std::vector<float> floats(6, 1);
  const std::vector<double> doubles(6, 1);
  expect_refused("bytes of a coordinate", [&] {
    if (is_last) {
      kmeans::Points<float>(context_, {floats.data(), 2, 3, 3});
    } else {
      kmeans::Points<double>(context_, {doubles.data(), 2, 3, 3});
    }
  });
  const std::vector<double> targets{0, 1};
  expect_refused("element type: is f32, but f64 on rank 0", [&] {
    if (is_last) {
      learn::Samples(context_, {floats.data(), 2, 3, 3}, targets, learn::Model::linear);
    } else {
      learn::Samples(context_, {doubles.data(), 2, 3, 3}, targets, learn::Model::linear);
    }
  });
}

TEST_F(Alike, are_the_options_of_partitions) {
  const Graph graph = grid(4, 5);
  const std::vector<int> old(20, 0);
  const auto again = [&](const partition::RepartitionOptions& options) {
    return [&, options] { static_cast<void>(partition::repartition(context_, graph.view(), {}, old, options)); };
  };
  expect_refused("parts: is 3, but 2 on rank 0", again({.parts = other(2, 3)}));
  expect_refused("imbalance: is 0.5, but 0.25 on rank 0", again({.imbalance = other(.25, .5)}));
  expect_refused("share that may move: is 0.5, but 1 on rank 0", again({.most_moved = other(1., .5)}));
  const Graph larger = grid(4, 6);
  const auto first = [&](const GraphView& view, std::uint64_t seed) {
    return [&, view, seed] { static_cast<void>(partition::fiedler(context_, view, seed)); };
  };
  expect_refused("seed: is 1, but 0 on rank 0", first(graph.view(), other<std::uint64_t>(0, 1)));
  expect_refused("vertices: is 24, but 20 on rank 0", first(other(graph.view(), larger.view()), 0));
  expect_refused("seed: is 1, but 0 on rank 0", [&] {
    static_cast<void>(partition::nested_dissection(context_, graph.view(), other<std::uint64_t>(0, 1)));
  });
}

TEST_F(Alike, are_the_options_of_iterations) {
  const krylov::Operator<double> twice = [](std::span<const double> in, std::span<double> out) {
    for (std::size_t i = 0; i < in.size(); ++i) out[i] = 2 * in[i];
  };
  std::vector<double> x(3, 1);
  const auto extremes = [&](const LanczosOptions& options) {
    return [&, options] { static_cast<void>(krylov::lanczos<double>(context_, twice, x, options)); };
  };
  expect_refused("number of steps: is 9, but 8 on rank 0", extremes({.most_steps = other<Index>(8, 9)}));
  expect_refused("sums: is 1, but 0 on rank 0",
                 extremes({.sums = other(krylov::Sums::fast, krylov::Sums::reproducible)}));
  expect_refused("tolerance: is 0.5, but 0.25 on rank 0", [&] {
    static_cast<void>(krylov::lowest_eigenvector(context_, twice, x, {.tolerance = other(.25, .5)}, [](auto) {}));
  });
  const poisson::Grid grid{.extents = {8}, .spacing = {1}};
  const auto boxes = layout::BoxPartition::for_ranks(grid.box(), context_.size());
  const std::vector<double> f(at(boxes.box(rank()).points()), 1);
  expect_refused("cycles: is 3, but 2 on rank 0",
                 [&] { poisson::Solver(context_, grid, boxes, {}, f, {}, {.multigrid = {.cycles = other(2, 3)}}); });
  expect_refused("numbers: is 5, but 4 on rank 0",
                 [&] { iterate::AsynchronousDescent(context_, other<Index>(4, 5), 0, iterate::Exchange::states); });
  expect_refused("slots: is 3, but 2 on rank 0", [&] { mpi::Mailbox(context_, 4, other<Index>(2, 3)); });
}

TEST_F(Alike, are_the_states_that_are_resumed) {
  const auto expect_one = [&](const char* name, auto&& solver) {
    SCOPED_TRACE(name);
    iterate::Checkpoint first, second;
    solver.advance();
    solver.save(first);
    solver.advance();
    solver.save(second);
    expect_refused("iterations of the state: is 2, but 1 on rank 0", [&] { solver.resume(other(first, second)); });
    second = first;
    second.shared["errors"].back() += 1;
    expect_refused("error of the state: is", [&] { solver.resume(other(first, second)); });
  };
  const krylov::Operator<double> growing = [](std::span<const double> in, std::span<double> out) {
    for (std::size_t i = 0; i < in.size(); ++i) out[i] = static_cast<double>(i + 1) * in[i];
  };
  const std::vector<double> b(5, 1);
  std::vector<double> x(5);
  expect_one("cg", krylov::ConjugateGradient<double>(context_, {growing, b, x}));
  const poisson::Grid grid{.extents = {8}, .spacing = {1}};
  const auto boxes = layout::BoxPartition::for_ranks(grid.box(), context_.size());
  const std::vector<double> f(at(boxes.box(rank()).points()), 1);
  expect_one("poisson", poisson::Solver(context_, grid, boxes, {}, f, {}, {.method = poisson::Method::jacobi}));
  const std::vector<double> numbers{1, 2, 3, 4, 5, 6, 7, 100};
  const kmeans::Points<double> points(context_, {numbers.data(), 8, 1, 1});
  expect_one("kmeans", kmeans::Solver<double>(points, {1, 2}, {}));
  const std::vector<double> targets{1, 0, 1, 0, 0, 1, 1, 0};
  const learn::Samples samples(context_, {numbers.data(), 8, 1, 1}, targets, learn::Model::logistic);
  expect_one("fit", learn::Solver(samples, {.limits = {.tolerance = 0}, .method = learn::Method::batch}));
  expect_one("train", learn::Training(samples, learn::parse_layers("dense 2 softmax", {1, 1, 1}), {.epochs = 4}));
  constexpr Index n = 8;
  purify::DenseProducts<double> products(context_, n, purify::choose_squares(context_.size()));
  purify::Matrix<double> h(products.layout(), rank());
  h.for_each_element([](Index row, Index column, double& value) { value = std::abs(row - column) == 1 ? 1 : 0; });
  expect_one("purify", purify::Purification<double>(products, h, {purify::Method::canonical, n / 2, {-2, 2}}));
}

TEST_F(Alike, is_whether_eigenstates_have_an_overlap) {
  const auto layout = layout::Layout::rows({4, 4}, ranks());
  purify::Matrix<double> h(layout, rank());
  h.for_each_element([](Index row, Index column, double& value) { value = row == column ? 1 : 0; });
  expect_refused("whether there is an overlap",
                 [&] { purify::Eigenstates<double>(context_, h, other<const purify::Matrix<double>*>(nullptr, &h)); });
}

}  // namespace
}  // namespace plait::test
