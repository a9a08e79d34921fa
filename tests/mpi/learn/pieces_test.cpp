#include "plait/learn/pieces.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/base/random.hpp"
#include "plait/mpi/context.hpp"

#include "mpi/learn/samples.hpp"
#include "support/message_of.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

using learn::FittedPiece;
using learn::Method;
using learn::Model;
using learn::Samples;
using ::testing::HasSubstr;

constexpr Index rows = 240;
constexpr Index columns = 3;
constexpr learn::HeldOut held_out{0.1, 5};

struct Problem {
  Data data{rows, columns, {}, {}};
  std::vector<std::int32_t> labels;  // of all, also of those held out
};

/// Piece 1 has class 0 alone, piece 2 the first and the last one, others have all.
Problem problem_of(Index classes, Index pieces) {
  Problem problem;
  for (Index i = 0; i < rows; ++i) {
    const auto row = static_cast<std::uint64_t>(i);
    const auto piece = static_cast<std::int32_t>(random_bits(1, row) % static_cast<std::uint64_t>(pieces));
    double sum = 0;
    for (std::uint64_t c = 0; c < columns; ++c) {
      problem.data.x.push_back(random_uniform(2, row * columns + c) + piece);
      sum += random_uniform(2, row * columns + c) / columns;
    }
    const double y = std::floor((sum + random_uniform(3, row)) / 2 * static_cast<double>(classes));
    const double last = static_cast<double>(classes - 1);
    problem.data.y.push_back(piece == 1 ? 0 : piece == 2 ? (y > last / 2 ? last : 0) : y);
    problem.labels.push_back(piece);
  }
  return problem;
}

std::vector<FittedPiece> fit(mpi::Context& context, const Problem& problem, Split split, Model model, Index pieces,
                             const learn::Options& options) {
  const Part own = part(problem.data, split);
  const Samples samples(context, own.rows, own.targets, model, held_out);
  std::vector<std::int32_t> labels;
  samples.for_each_block(false, [&](std::span<const Index> block) {
    for (const Index i : block) labels.push_back(problem.labels[static_cast<std::size_t>(samples.first() + i)]);
  });
  return learn::fit_pieces(samples, labels, pieces, options);
}

class Pieces : public ::testing::Test {
 protected:
  mpi::Context context_{test_comm()};
};

TEST_F(Pieces, say_what_a_fit_of_their_samples_alone_says) {
  mpi::Context alone(MPI_COMM_SELF);
  for (const auto& [model, classes] : {std::pair<Model, Index>{Model::linear, 9},
                                       {Model::logistic, 2},
                                       {Model::logistic, 4},
                                       {Model::svm, 2},
                                       {Model::svm, 4}}) {
    for (const Index pieces : {1, 3, 7}) {
      for (const Method method : {Method::lbfgs, Method::minibatch}) {
        const Problem problem = problem_of(classes, pieces);
        const learn::Options options{.limits = {1e-8, 20}, .method = method, .l2 = 0.01, .batch = 7, .seed = 3};
        std::vector<double> all;
        for (Index k = 0; k < classes; ++k) all.push_back(static_cast<double>(k));
        for (const Split split : {Split::even, Split::ragged, Split::last}) {
          const std::vector<FittedPiece> found = fit(context_, problem, split, model, pieces, options);
          ASSERT_EQ(static_cast<Index>(found.size()), pieces);
          for (Index p = 0; p < pieces; ++p) {
            const FittedPiece& piece = found[static_cast<std::size_t>(p)];
            Data its{0, columns, {}, {}};
            for (Index i = 0; i < rows; ++i) {
              if (problem.labels[static_cast<std::size_t>(i)] != p || held_out.has(i)) continue;
              ++its.rows;
              const auto begin = problem.data.x.begin() + i * columns;
              its.x.insert(its.x.end(), begin, begin + columns);
              its.y.push_back(problem.data.y[static_cast<std::size_t>(i)]);
            }
            EXPECT_EQ(piece.samples, its.rows);
            std::vector<Index> numbers;
            for (Index i = 0; i < its.rows; ++i) numbers.push_back(i);
            std::vector<double> z;
            const auto outputs = static_cast<std::size_t>(model == Model::linear || classes == 2 ? 1 : classes);
            piece.model.outputs(whole(its).rows, numbers, z);
            const auto said = [&, model = model](std::size_t i) {
              return learn::prediction(model, all, std::span(z).subspan(i * outputs, outputs));
            };
            if (model != Model::linear && p == 1) {
              EXPECT_EQ(piece.classes, 1);
              EXPECT_EQ(piece.state.end, iterate::End::converged);
              for (std::size_t i = 0; i < numbers.size(); ++i) EXPECT_EQ(said(i), 0);
              continue;
            }
            const Samples samples(alone, whole(its).rows, whole(its).targets, model);
            learn::Solver solver(samples, options);
            iterate::run(solver);
            EXPECT_EQ(piece.state.step, solver.state().step);
            EXPECT_EQ(piece.objective, solver.objectives().back());
            const auto present = static_cast<Index>(samples.classes().size());
            if (model == Model::linear || present == classes) {
              EXPECT_EQ(piece.model.slopes, solver.model().slopes);
              EXPECT_EQ(piece.model.weights(), solver.weights());
            }
            std::vector<double> its_z;
            solver.model().outputs(whole(its).rows, numbers, its_z);
            const auto its_outputs = static_cast<std::size_t>(samples.outputs());
            for (std::size_t i = 0; i < numbers.size(); ++i) {
              EXPECT_EQ(said(i), learn::prediction(model, samples.classes(),
                                                   std::span(its_z).subspan(i * its_outputs, its_outputs)));
            }
            if (classes == 4 && p == 2) {
              EXPECT_EQ(piece.model.weights()[2 * (columns + 1) - 1], -HUGE_VAL);
            }
          }
        }
      }
    }
  }
}

TEST_F(Pieces, wrong_arguments_are_named_on_all_ranks) {
  const Problem problem = problem_of(4, 3);
  const auto fits = [&](Index pieces, Method method) {
    return [&, pieces, method] { fit(context_, problem, Split::even, Model::svm, pieces, {.method = method}); };
  };
  EXPECT_THAT(message_of<ArgumentError>(fits(3, Method::asgd)), HasSubstr("the method of pieces is asgd"));
  EXPECT_THAT(message_of<ArgumentError>(fits(2, Method::lbfgs)),
              HasSubstr("a sample is of piece 2, expected one below 2"));
  EXPECT_THAT(message_of<ArgumentError>(fits(4, Method::lbfgs)), HasSubstr("piece 3 has no samples"));
  EXPECT_THAT(message_of<ArgumentError>(fits(0, Method::lbfgs)), HasSubstr("labels of 0 pieces"));
}

}  // namespace
}  // namespace plait::test
