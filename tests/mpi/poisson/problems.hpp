// Problems of any kind, what solves them by their definition, and how ranks solve them together.
#pragma once

#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/base/loaded_library.hpp"
#include "plait/iterate/solver.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/context.hpp"
#include "plait/poisson/fourier.hpp"
#include "plait/poisson/solver.hpp"

#include "mpi/poisson/reference.hpp"
#include "support/message_of.hpp"
#include "support/random.hpp"
#include "support/ranks.hpp"

namespace plait::test {

using layout::Box;
using layout::BoxPartition;
using layout::Point;
using poisson::Axis;
using poisson::FourierSolver;
using poisson::Grid;
using poisson::Method;
using poisson::Options;
using poisson::Points;
using poisson::Side;
using poisson::Solver;

// A whole problem, as any rank can make it.
struct Case {
  Grid grid;
  std::vector<double> k, f;                      // of all points; k may be empty
  std::array<std::array<double, 2>, 3> given{};  // on sides

  [[nodiscard]] Box box() const { return grid.box(); }
  [[nodiscard]] Axis::Sides sides(std::size_t d) const {
    return grid.sides.empty() ? Axis::Sides{Side::value, Side::value} : grid.sides[d];
  }
  [[nodiscard]] bool is_singular() const {
    for (std::size_t d = 0; d < grid.extents.size(); ++d) {
      if (sides(d)[0] == Side::value || sides(d)[1] == Side::value) return false;
    }
    return true;
  }
};

inline std::vector<double> part(const std::vector<double>& whole, const Box& box, const Box& own) {
  std::vector<double> result;
  if (whole.empty()) return result;
  for_each_point(own, [&](const Point& p) { result.push_back(whole[at(box.offset_of(p))]); });
  return result;
}

// A x = b, straight from the definition, point by point. b has mean 0 where constants are free.
struct Equations {
  std::vector<double> a, b;  // a by rows
};
inline Equations equations_of(const Case& problem) {
  const Box box = problem.box();
  const auto n = at(box.points());
  std::vector<double> a(n * n), x = problem.f;
  const auto k = [&](Index p) { return problem.k.empty() ? 1 : problem.k[at(p)]; };
  for_each_point(box, [&](const Point& p) {
    const Index own = box.offset_of(p);
    for (std::size_t d = 0; d < problem.grid.extents.size(); ++d) {
      const std::size_t axis = 3 - problem.grid.extents.size() + d;
      const double h = problem.grid.spacing[d];
      for (int side = 0; side < 2; ++side) {
        Point next = p;
        next[axis] += side == 0 ? -1 : 1;
        const bool is_outside = !box.contains(next);
        const Side kind = problem.sides(d)[at(side)];
        if (is_outside && kind == Side::flux) {
          x[at(own)] += problem.given[d][at(side)] / h;
        } else if (is_outside && kind == Side::value) {
          const double c = k(own) / (h * h) * (problem.grid.points == Points::cells ? 2 : 1);
          a[at(own) * n + at(own)] += c;
          x[at(own)] += c * problem.given[d][at(side)];
        } else {
          next[axis] = (next[axis] + box.high[axis]) % box.high[axis];
          const Index other = box.offset_of(next);
          const double c = 2 / (1 / k(own) + 1 / k(other)) / (h * h);
          a[at(own) * n + at(own)] += c;
          a[at(own) * n + at(other)] -= c;
        }
      }
    }
  });
  if (problem.is_singular()) {
    double mean = 0;
    for (const double value : x) mean += value / static_cast<double>(n);
    for (double& value : x) value -= mean;
  }
  return {std::move(a), std::move(x)};
}

// By elimination; of mean 0 where constants are free.
inline std::vector<double> reference(const Case& problem) {
  auto [a, b] = equations_of(problem);
  if (problem.is_singular()) {
    for (double& entry : a) entry += 1;
  }
  return eliminated(std::move(a), std::move(b));
}

struct Solved {
  std::vector<double> u;  // of all points, on all ranks
  iterate::State state;
  std::vector<double> errors;
};

inline Solved solve(mpi::Context& context, const Case& problem, const BoxPartition& partition, Options options) {
  const Box box = problem.box(), own = partition.box(context.rank());
  options.boundary = [&](int axis, int side, std::span<const double>) { return problem.given[at(axis)][at(side)]; };
  const std::vector<double> k = part(problem.k, box, own), f = part(problem.f, box, own);
  Solver solver(context, problem.grid, partition, k, f, {}, options);
  iterate::run(solver);
  std::vector<double> u(f.size());
  solver.copy_solution(u);
  std::vector<double> whole(at(box.points()));
  std::size_t next = 0;
  for_each_point(own, [&](const Point& p) { whole[at(box.offset_of(p))] = u[next++]; });
  mpi::all_reduce(context.comm(), std::span<double>(whole), mpi::Operation::sum());
  return {whole, solver.state(), solver.errors()};
}

/// Expects of a solver that goes on from the state of another one after some iterations the bits of one that goes
/// through; returns that state.
inline iterate::Checkpoint expect_same_bits_from_a_checkpoint(mpi::Context& context, const Case& problem,
                                                              const Options& options, int iterations) {
  const BoxPartition partition = BoxPartition::for_ranks(problem.box(), context.size());
  const Box own = partition.box(context.rank());
  const std::vector<double> k = part(problem.k, problem.box(), own), f = part(problem.f, problem.box(), own);
  Solver whole(context, problem.grid, partition, k, f, {}, options);
  Solver first(context, problem.grid, partition, k, f, {}, options);
  Solver second(context, problem.grid, partition, k, f, {}, options);
  iterate::run(whole);
  for (int i = 0; i < iterations; ++i) first.advance();
  iterate::Checkpoint checkpoint;
  first.save(checkpoint);
  second.resume(checkpoint);
  iterate::run(second);
  std::vector<double> u(f.size()), v(f.size());
  whole.copy_solution(u);
  second.copy_solution(v);
  EXPECT_EQ(u, v) << poisson::name(options.method);
  EXPECT_EQ(whole.errors(), second.errors()) << poisson::name(options.method);
  return checkpoint;
}

/// Expects that a solver refuses a state in these words.
inline void expect_refusal_of(const iterate::Checkpoint& checkpoint, mpi::Context& context, const Case& problem,
                              const Options& options, const char* words) {
  const BoxPartition partition = BoxPartition::for_ranks(problem.box(), context.size());
  const Box own = partition.box(context.rank());
  Solver solver(context, problem.grid, partition, part(problem.k, problem.box(), own),
                part(problem.f, problem.box(), own), {}, options);
  EXPECT_THAT(message_of<ArgumentError>([&] { solver.resume(checkpoint); }), ::testing::HasSubstr(words));
}

/// \param length  the longest axes have so many times as many points as usually
inline Case random_case(Random& random, bool k_varies, Index length = 1) {
  Case problem;
  const Index dimensions = random(1, 3);
  const Index most = length * (dimensions == 1 ? 14 : dimensions == 2 ? 8 : 5);
  problem.grid.points = random(0, 2) == 0 ? Points::nodes : Points::cells;
  for (Index d = 0; d < dimensions; ++d) {
    problem.grid.extents.push_back(random(1, most));
    problem.grid.spacing.push_back(random(0, 2) == 0 ? 0.3 : 0.5);
    Axis::Sides sides = random(0, 2) == 0 ? around : given;
    for (Side& side : sides) {
      if (side != Side::periodic && problem.grid.points == Points::cells && random(0, 1) == 0) side = Side::flux;
    }
    problem.grid.sides.push_back(sides);
    problem.given[at(d)] = {random.real(), random.real()};
  }
  for (Index p = 0; p < problem.box().points(); ++p) {
    if (k_varies) problem.k.push_back(std::exp(random.real()));
    problem.f.push_back(random.real() - 0.5);
  }
  return problem;
}

}  // namespace plait::test
