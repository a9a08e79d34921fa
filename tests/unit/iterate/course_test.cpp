#include "plait/iterate/course.hpp"

#include <cmath>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"

#include "support/message_of.hpp"

namespace plait::iterate {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double roundoff = 1e-16;

/// Halves a number until it is small.
class Halving {
 public:
  explicit Halving(const Limits& limits) : course_(limits, {roundoff}) {}

  bool advance() {
    if (course_.state().end != End::none) return false;
    if (course_.is_at_limit()) {
      course_.end_at_limit("; it halves");
      return false;
    }
    course_.took(value_ / 2);
    if (course_.is_over()) return false;
    value_ /= 2;
    return true;
  }
  [[nodiscard]] const State& state() const { return course_.state(); }
  void save(Checkpoint& checkpoint) const {
    course_.save(checkpoint);
    checkpoint.numbers["value"] = value_;
  }
  void resume(const Checkpoint& checkpoint) {
    course_.resume(checkpoint);
    value_ = checkpoint.numbers.at("value");
  }
  [[nodiscard]] const std::vector<double>& errors() const { return course_.errors(); }

 private:
  Course course_;
  double value_ = 1;
};

State ended(const std::vector<double>& errors, const Rounding& rounding, double tolerance = 1e-300) {
  Course course({tolerance, 10'000}, rounding);
  for (const double error : errors) {
    course.took(error);
    if (course.is_over()) break;
  }
  return course.state();
}

TEST(Solver, TellsWhyItEndedAndHowFarItCame) {
  Halving solver({.tolerance = 0.1, .most_iterations = 50});
  run(solver);
  EXPECT_EQ(solver.state().end, End::converged);
  EXPECT_EQ(solver.state().step, 4);
  EXPECT_EQ(solver.state().error, 0.0625);
  EXPECT_THAT(solver.state().reason, HasSubstr("the error is 0.0625, the tolerance 0.1"));
  EXPECT_FALSE(solver.advance());
}

TEST(Solver, StopsAtTheLimitOfItsIterations) {
  Halving solver({.tolerance = 0.01, .most_iterations = 3});
  run(solver);
  EXPECT_EQ(solver.state().end, End::limit);
  EXPECT_THAT(solver.state().reason, HasSubstr("after 3 iterations, the tolerance 0.01; it halves"));
  Halving none({.tolerance = 0.01, .most_iterations = 0});
  EXPECT_FALSE(none.advance());
  EXPECT_EQ(none.state().step, 0);
}

TEST(Solver, GoesOnFromACheckpointWithTheSameErrors) {
  Halving whole({.tolerance = 1e-3});
  std::vector<Index> told;
  std::vector<Checkpoint> kept;
  run(whole, {[&](Index step, double) { told.push_back(step); }, [](Index steps) { return steps % 3 == 0; },
              [&](const Checkpoint& checkpoint) { kept.push_back(checkpoint); }});
  EXPECT_THAT(told, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
  ASSERT_EQ(kept.size(), 3U);
  for (const Checkpoint& checkpoint : kept) {
    Halving other({.tolerance = 1e-3});
    other.resume(checkpoint);
    run(other);
    EXPECT_EQ(other.errors(), whole.errors());
  }
}

TEST(Solver, RefusesACheckpointThatLeavesNoIterationOrIsOfAnotherKind) {
  Halving solver({.tolerance = 0, .most_iterations = 4});
  Checkpoint checkpoint;
  for (int k = 0; k < 3; ++k) solver.advance();
  solver.save(checkpoint);
  Halving fewer({.tolerance = 0, .most_iterations = 3});
  EXPECT_THAT(test::message_of<ArgumentError>([&] { fewer.resume(checkpoint); }),
              HasSubstr("limited to 3, expected more than the 3 that were done"));
  EXPECT_THAT(test::message_of<ArgumentError>([&] { fewer.resume({}); }), HasSubstr("the state has no errors"));
}

TEST(Course, NamesWhatItsErrorsAre) {
  Course course({0.1, 2}, {}, "the gradient");
  course.took(0.5);
  course.end_at_limit();
  EXPECT_EQ(course.state().reason, "the gradient is 0.5 after 1 iterations, the tolerance 0.1");
  course.took(0.0625);
  EXPECT_TRUE(course.is_over());
  EXPECT_EQ(course.state().reason, "the gradient is 0.0625, the tolerance 0.1");
}

TEST(Course, TellsThatAllEpochsAreDoneWhereNoErrorWasToBeReached) {
  Course course({0, 2}, {});
  course.took(3);
  course.took(4);
  course.finish();
  EXPECT_EQ(course.state().end, End::finished);
  EXPECT_EQ(course.state().reason, "all 2 epochs are done");
}

TEST(Course, RefusesLimitsBelowZero) {
  EXPECT_THROW(expect_valid({.tolerance = -1}), ArgumentError);
  EXPECT_THROW(expect_valid({.tolerance = std::nan("")}), ArgumentError);
  EXPECT_THROW(expect_valid({.most_iterations = -1}), ArgumentError);
  EXPECT_NO_THROW(expect_valid({.tolerance = 0, .most_iterations = 0}));
}

TEST(Course, EndsWhereRoundingLeavesTheErrorAndNotBefore) {
  std::vector<double> errors{1, 0.1, 1e-8};
  for (int k = 0; k < 21; ++k) errors.push_back(3e-15);
  EXPECT_EQ(ended(errors, {roundoff}).end, End::numbers);
  errors.pop_back();
  EXPECT_EQ(ended(errors, {roundoff}).end, End::none);
  for (double& error : errors) error *= 1e3;  // it may still fall
  errors.insert(errors.end(), 30, errors.back());
  EXPECT_EQ(ended(errors, {roundoff}).end, End::none);
}

TEST(Course, ExpectsErrorsOfLargeTermsToComeAndGoByRounding) {
  std::vector<double> errors;
  for (int k = 0; k < 40; ++k) errors.push_back(k % 2 == 0 ? 1e-12 : 2e-12);
  const Rounding wide{roundoff, 1e5, Errors::fall, "terms up to 1e5"};
  const State state = ended(errors, wide);
  EXPECT_EQ(state.end, End::numbers);
  EXPECT_THAT(state.reason, HasSubstr("which is what rounding leaves of terms up to 1e5"));
  EXPECT_EQ(ended(errors, {roundoff}).end, End::none);
  // Where errors fluctuate anyway it takes as many iterations again to tell.
  EXPECT_EQ(ended(errors, {roundoff, 1e5, Errors::fluctuate}).end, End::none);
  while (errors.size() < 256) errors.push_back(errors[errors.size() - 2]);
  EXPECT_EQ(ended(errors, {roundoff, 1e5, Errors::fluctuate}).end, End::numbers);
}

TEST(Course, IsSlowWhereTwiceAsManyIterationsDoNotHalveTheError) {
  Course slow({.tolerance = 0}, {roundoff});
  Course fast({.tolerance = 0}, {roundoff});
  for (int k = 1; k <= 130; ++k) {
    slow.took(1 / std::sqrt(k));
    fast.took(std::pow(0.95, k));
    EXPECT_EQ(slow.is_slow(), k == 64 || k == 128) << k;
    EXPECT_FALSE(fast.is_slow()) << k;
  }
}

}  // namespace
}  // namespace plait::iterate
