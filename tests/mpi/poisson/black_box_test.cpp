#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "plait/base/random.hpp"
#include "plait/iterate/solver.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/context.hpp"
#include "plait/poisson/multigrid.hpp"
#include "plait/poisson/solver.hpp"

#include "mpi/poisson/reference.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

using layout::BoxPartition;
using poisson::Axis;
using poisson::Grid;
using poisson::Level;
using poisson::Method;
using poisson::Multigrid;
using poisson::Points;
using poisson::Side;
using poisson::Solver;

// This rank's values of f(point, its number among all).
template <class F>
std::vector<double> values_of(const BoxPartition& partition, const F& f) {
  const layout::Box own = partition.box(rank()), whole = partition.whole();
  std::vector<double> values;
  for (Index i = own.low[0]; i < own.high[0]; ++i) {
    for (Index j = own.low[1]; j < own.high[1]; ++j) {
      for (Index x = own.low[2]; x < own.high[2]; ++x) {
        const layout::Point point{i, j, x};
        values.push_back(f(point, static_cast<std::uint64_t>(whole.offset_of(point))));
      }
    }
  }
  return values;
}

// k = 1 or `contrast`, at random.
std::vector<double> speckles(const BoxPartition& partition, double contrast, std::uint64_t seed = 11) {
  return values_of(partition, [&](const layout::Point&, std::uint64_t place) {
    return random_uniform(seed, place) < 0.5 ? 1 : contrast;
  });
}

std::vector<double> noise(const BoxPartition& partition, std::uint64_t seed) {
  return values_of(partition,
                   [&](const layout::Point&, std::uint64_t place) { return random_uniform(seed, place) - 0.5; });
}

iterate::State solved(mpi::Context& context, const Grid& grid, const std::vector<double>& k,
                      const BoxPartition& partition) {
  const std::vector<double> f = noise(partition, 5);
  Solver solver(context, grid, partition, k, f, {},
                {.method = Method::multigrid_conjugate_gradients,
                 .sums = krylov::Sums::reproducible,
                 .project = true,
                 .multigrid = {.most_jump = 0}});
  iterate::run(solver);
  EXPECT_TRUE(solver.black_box() && !solver.multigrid());
  EXPECT_LE(solver.check().weighted_residual, 1.01e-8);
  return solver.state();
}

TEST(PoissonBlackBox, TakesFewIterationsOnCheckerboardsOfAnyContrast) {
  mpi::Context context(test_comm());
  for (const Index n : {31, 64, 127, 255}) {
    for (const double contrast : {1., 1e2, 1e4, 1e6}) {
      const Grid grid{.extents = {n, n}, .spacing = {1, 1}};
      const BoxPartition partition = BoxPartition::for_ranks(grid.box(), ranks());
      const auto square = [&](Index i) { return i * 16 / n; };
      const std::vector<double> k = values_of(partition, [&](const layout::Point& p, std::uint64_t) {
        return (square(p[1]) + square(p[2])) % 2 == 0 ? 1 : contrast;
      });
      const iterate::State state = solved(context, grid, k, partition);
      EXPECT_EQ(state.end, iterate::End::converged) << state.reason;
      EXPECT_LE(state.step, 15) << n << ", " << contrast;
    }
  }
}

TEST(PoissonBlackBox, NeverFailsWhereKJumpsAtRandom) {
  mpi::Context context(test_comm());
  for (const std::vector<Index>& extents : {std::vector<Index>{40, 41}, {17, 16, 15}}) {
    for (const double contrast : {1e2, 1e4, 1e6, 1e8}) {
      const Grid grid{.extents = extents, .spacing = std::vector<double>(extents.size(), 1)};
      const BoxPartition partition = BoxPartition::for_ranks(grid.box(), ranks());
      const iterate::State state = solved(context, grid, speckles(partition, contrast), partition);
      EXPECT_EQ(state.end, iterate::End::converged) << contrast << ": " << state.reason;
    }
  }
}

TEST(PoissonBlackBox, IsSymmetricAndPositiveDefiniteOnAnyGrid) {
  mpi::Context context(test_comm());
  struct Shape {
    std::vector<Index> extents;
    std::vector<Axis::Sides> sides;
    Points points = Points::cells;
    std::vector<double> spacing = {1, 1, 1};
  };
  for (const Shape& shape :
       {Shape{{90}, {given}}, Shape{{65}, {around}}, Shape{{31, 40}, {given, flux}}, Shape{{33, 21}, {around, around}},
        Shape{{20, 37}, {given, given}, Points::nodes}, Shape{{24, 50}, {flux, flux}, Points::cells, {1, 8, 1}},
        Shape{{13, 12, 11}, {given, around, flux}}, Shape{{9, 9, 9}, {around, around, around}}}) {
    std::string name = fmt::format("{} points on axis 0", shape.extents[0]);
    SCOPED_TRACE(name);
    Grid grid{shape.extents, shape.spacing, shape.points, shape.sides};
    grid.spacing.resize(shape.extents.size());
    // In floats, and in doubles where k spans more than they do; rounding grows with the contrast.
    for (const auto& [contrast, off] : {std::pair{1e4, 1e-5}, {1e6, 1e-9}, {1e13, 1e-5}}) {
      const poisson::Axes axes = axes_of(context, grid);
      const BoxPartition partition = Multigrid::partition(axes, BoxPartition::for_ranks(grid.box(), context.size()));
      Level level(context, axes, partition);
      poisson::Values k = level.zeros();
      level.copy_in(speckles(partition, contrast), k);
      level.set_coefficient(k);
      const auto black_box = poisson::black_box(context, level, 8);
      const auto applied = [&](const std::vector<double>& values) {
        poisson::Values in = level.zeros(), out = level.zeros();
        level.copy_in(values, in);
        black_box->apply(in, out);
        std::vector<double> result(values.size());
        level.copy_out(out, result);
        return result;
      };
      const auto dot = [&](const std::vector<double>& x, const std::vector<double>& y) {
        double sum = 0;
        for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
        return mpi::all_reduce(context.comm(), sum, mpi::Operation::sum());
      };
      std::vector<double> x = noise(partition, 1), y = noise(partition, 2);
      const std::vector<double> ones(x.size(), 1);
      for (std::vector<double>* vector : {&x, &y}) {  // where constants have no image, right sides have no mean
        const double mean = dot(*vector, ones) / static_cast<double>(grid.box().points());
        for (double& value : *vector) value -= mean;
      }
      const std::vector<double> of_x = applied(x), of_y = applied(y);
      const double xx = dot(x, of_x), yy = dot(y, of_y);
      EXPECT_GT(xx, 0);
      EXPECT_GT(yy, 0);
      EXPECT_NEAR(dot(y, of_x), dot(x, of_y), off * std::sqrt(xx * yy));
    }
  }
}

}  // namespace
}  // namespace plait::test
