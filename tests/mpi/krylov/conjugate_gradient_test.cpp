#include "plait/krylov/conjugate_gradient.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/base/random.hpp"
#include "plait/collective/calls.hpp"
#include "plait/iterate/solver.hpp"
#include "plait/krylov/lanczos.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/context.hpp"

#include "support/message_of.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

using krylov::ConjugateGradient;
using krylov::Operator;
using krylov::Options;
using krylov::PipelinedConjugateGradient;
using krylov::Sums;
using ::testing::HasSubstr;

static_assert(iterate::Solver<ConjugateGradient<double>> && iterate::Solver<PipelinedConjugateGradient<float>>);

// Slices of n elements, of which the last ranks may have none.
struct Slices {
  Index n;
  int ranks, rank;
  [[nodiscard]] Index begin(int r) const { return std::min(n, r * ((n + ranks - 1) / ranks)); }
  [[nodiscard]] std::vector<Index> counts() const {
    std::vector<Index> counts;
    for (int r = 0; r < ranks; ++r) counts.push_back(begin(r + 1) - begin(r));
    return counts;
  }
  template <class T>
  [[nodiscard]] std::vector<T> part(const std::vector<T>& whole) const {
    return {whole.begin() + begin(rank), whole.begin() + begin(rank + 1)};
  }
};

// -1, 2 + c[i], -1: each element by the same operations on any number of ranks.
template <class T>
struct Tridiagonal {
  mpi::Context& context;
  Slices slices;
  double diagonal = 0;  // times a random number is added

  [[nodiscard]] double entry(Index i, Index j) const {
    if (i == j) return 2 + diagonal * random_uniform(5, static_cast<std::uint64_t>(i));
    return std::abs(i - j) == 1 ? -1 : 0;
  }
  void operator()(std::span<const T> in, std::span<T> out) const {
    std::vector<T> all(at(slices.n));
    collective::all_gather<T>(context, in, all, slices.counts());
    const Index begin = slices.begin(slices.rank);
    for (Index k = 0; k < std::ssize(out); ++k) {
      T sum = 0;
      for (Index j = std::max<Index>(begin + k - 1, 0); j < std::min(begin + k + 2, slices.n); ++j) {
        sum += static_cast<T>(entry(begin + k, j)) * all[at(j)];
      }
      out[at(k)] = sum;
    }
  }
};

template <class T>
std::vector<T> random_vector(Index n, std::uint64_t seed) {
  std::vector<T> result;
  for (Index i = 0; i < n; ++i)
    result.push_back(static_cast<T>(random_uniform(seed, static_cast<std::uint64_t>(i)) - .5));
  return result;
}

// By elimination without pivots.
template <class T>
std::vector<double> solution(const Tridiagonal<T>& a, const std::vector<T>& b) {
  const Index n = a.slices.n;
  std::vector<double> d, x(b.begin(), b.end());
  for (Index i = 0; i < n; ++i) {
    d.push_back(a.entry(i, i) - (i > 0 ? 1 / d[at(i - 1)] : 0));
    if (i > 0) x[at(i)] += x[at(i - 1)] / d[at(i - 1)];
  }
  for (Index i = n - 1; i >= 0; --i) x[at(i)] = (x[at(i)] + (i + 1 < n ? x[at(i + 1)] : 0)) / d[at(i)];
  return x;
}

template <class T, class Solver>
void expect_solves(Index n, double tolerance) {
  mpi::Context context(test_comm());
  const Slices slices{n, ranks(), rank()};
  const Tridiagonal<T> a{context, slices, 1};
  const std::vector<T> whole = random_vector<T>(n, 1);
  const std::vector<T> b = slices.part(whole);
  std::vector<T> x = slices.part(random_vector<T>(n, 2));
  Solver solver(context, {a, b, x}, Options{.limits = {.tolerance = tolerance}});
  iterate::run(solver);
  EXPECT_EQ(solver.state().end, iterate::End::converged) << solver.state().reason;
  EXPECT_LE(solver.state().error, tolerance);
  const std::vector<double> expected = solution(a, whole);
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(x[i]), expected[at(slices.begin(rank())) + i], 40 * tolerance);
  }
}

TEST(ConjugateGradients, SolveForAnyNumberOfUnknowns) {
  for (const Index n : {1, 2, 3, 7, 40}) {
    SCOPED_TRACE(n);
    expect_solves<double, ConjugateGradient<double>>(n, 1e-12);
    expect_solves<double, PipelinedConjugateGradient<double>>(n, 1e-11);
    expect_solves<float, ConjugateGradient<float>>(n, 1e-5);
    expect_solves<float, PipelinedConjugateGradient<float>>(n, 1e-5);
  }
}

TEST(ConjugateGradients, TakeAPreconditionerThatIsNotSymmetric) {
  mpi::Context context(test_comm());
  const Slices slices{60, ranks(), rank()};
  const Tridiagonal<double> a{context, slices, 1};
  const std::vector<double> whole = random_vector<double>(60, 3), b = slices.part(whole);
  std::vector<double> x(b.size());
  Index applied = 0;
  const Operator<double> m = [&](std::span<const double> in, std::span<double> out) {  // another one each time
    ++applied;
    for (std::size_t i = 0; i < in.size(); ++i) out[i] = in[i] / (2 + 0.1 * static_cast<double>((i + at(applied)) % 3));
  };
  ConjugateGradient<double> solver(context, {a, b, x}, {.limits = {.tolerance = 1e-10}}, m);
  iterate::run(solver);
  EXPECT_EQ(solver.state().end, iterate::End::converged) << solver.state().reason;
  EXPECT_EQ(applied, solver.state().step + 1);
  const std::vector<double> expected = slices.part(solution(a, whole));
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], expected[i], 1e-8);
}

// x and the errors after some iterations.
template <class Solver>
std::pair<std::vector<double>, std::vector<double>> after(mpi::Context& context, Slices slices, Sums sums,
                                                          Index steps) {
  const Tridiagonal<double> a{context, slices};
  const std::vector<double> b = slices.part(random_vector<double>(slices.n, 4));
  std::vector<double> x(b.size());
  Solver solver(context, {a, b, x}, {.limits = {.tolerance = 0, .most_iterations = steps}, .sums = sums});
  iterate::run(solver);
  return {x, solver.errors()};
}

TEST(ConjugateGradients, GiveTheSameBitsForAnyNumberOfRanksWhereThatIsWanted) {
  constexpr Index n = 57;
  mpi::Context context(test_comm()), alone(MPI_COMM_SELF);
  const auto expect_same = [&](const auto& parts, const auto& whole) {
    EXPECT_EQ(parts.first, (Slices{n, ranks(), rank()}.part(whole.first)));
    EXPECT_EQ(parts.second, whole.second);
  };
  expect_same(after<ConjugateGradient<double>>(context, {n, ranks(), rank()}, Sums::reproducible, 25),
              after<ConjugateGradient<double>>(alone, {n, 1, 0}, Sums::reproducible, 25));
  expect_same(after<PipelinedConjugateGradient<double>>(context, {n, ranks(), rank()}, Sums::reproducible, 25),
              after<PipelinedConjugateGradient<double>>(alone, {n, 1, 0}, Sums::reproducible, 25));
}

// Messages of inner products in each of some iterations.
template <class Solver>
Index messages_of_an_iteration(mpi::Context& context) {
  const Slices slices{400, ranks(), rank()};
  const std::vector<double> b = slices.part(random_vector<double>(slices.n, 4));
  std::vector<double> x(b.size());
  Solver solver(context, {Tridiagonal<double>{context, slices}, b, x}, {.limits = {.tolerance = 0}});
  for (int i = 0; i < 3; ++i) solver.advance();
  context.counters().clear();
  for (int i = 0; i < 10; ++i) solver.advance();
  const auto& counters = context.counters()["dots"];
  return (counters.sent_to(PeerClass::node).messages + counters.sent_to(PeerClass::network).messages) / 10;
}

TEST(ConjugateGradients, TakeTwoReductionsAnIterationOrOne) {
  mpi::Context context(test_comm());
  krylov::Dots dots(context, Sums::fast);
  context.counters().clear();
  (void)dots.dot<double>({}, {});
  const auto& counters = context.counters()["dots"];
  const Index once = counters.sent_to(PeerClass::node).messages + counters.sent_to(PeerClass::network).messages;
  EXPECT_EQ(messages_of_an_iteration<ConjugateGradient<double>>(context), 2 * once);
  EXPECT_EQ(messages_of_an_iteration<PipelinedConjugateGradient<double>>(context), once);
}

template <class Solver>
void expect_resumes() {
  mpi::Context context(test_comm());
  const Slices slices{80, ranks(), rank()};
  const Tridiagonal<double> a{context, slices};
  const std::vector<double> b = slices.part(random_vector<double>(80, 4));
  const Options options{.limits = {.tolerance = 1e-9}, .sums = Sums::reproducible};
  std::vector<double> x(b.size()), y(b.size());
  Solver whole(context, {a, b, x}, options), second(context, {a, b, y}, options);
  iterate::run(whole);
  iterate::Checkpoint checkpoint;
  {
    std::vector<double> z(b.size());
    Solver first(context, {a, b, z}, options);
    for (int i = 0; i < 30; ++i) first.advance();
    first.save(checkpoint);
  }
  second.resume(checkpoint);
  iterate::run(second);
  EXPECT_EQ(x, y);
  EXPECT_EQ(whole.errors(), second.errors());

  std::vector<double> longer(b.size() + 1);
  Solver other(context, {a, longer, longer}, options);
  EXPECT_THAT(message_of<ArgumentError>([&] { other.resume(checkpoint); }), HasSubstr("elements of x, expected"));
  EXPECT_THAT(message_of<ArgumentError>([&] { other.resume({}); }), HasSubstr("no errors"));
}

TEST(ConjugateGradients, GoOnFromACheckpointWithTheSameBits) {
  expect_resumes<ConjugateGradient<double>>();
  expect_resumes<PipelinedConjugateGradient<double>>();
}

template <class Solver>
void expect_resumes_at_a_limit() {
  mpi::Context context(test_comm());
  const Slices slices{80, ranks(), rank()};
  const Tridiagonal<double> a{context, slices};
  const std::vector<double> b = slices.part(random_vector<double>(80, 4));
  std::vector<double> x(b.size()), y(b.size()), z(b.size());
  Options options{.limits = {.tolerance = 1e-9}, .sums = Sums::reproducible};
  Solver whole(context, {a, b, x}, options), second(context, {a, b, y}, options);
  iterate::run(whole);
  options.limits.most_iterations = 20;
  Solver first(context, {a, b, z}, options);
  iterate::run(first);
  EXPECT_EQ(first.state().end, iterate::End::limit);
  iterate::Checkpoint checkpoint;
  first.save(checkpoint);
  second.resume(checkpoint);
  iterate::run(second);
  EXPECT_EQ(x, y);
  EXPECT_EQ(whole.state().step, second.state().step);
}

TEST(ConjugateGradients, GoOnFromALimitWithTheSameBitsAndRepeatNoIteration) {
  expect_resumes_at_a_limit<ConjugateGradient<double>>();
  expect_resumes_at_a_limit<PipelinedConjugateGradient<double>>();
}

// Eigenvalues from 1e-5 to 1, so that recurrences over one iteration lose b - A x before it is small.
TEST(ConjugateGradients, KnowWhatIsLeftWherePipelinedRecurrencesAreLost) {
  mpi::Context context(test_comm());
  const Slices slices{400, ranks(), rank()};
  const Index begin = slices.begin(rank());
  const Operator<double> a = [&](std::span<const double> in, std::span<double> out) {
    for (Index i = 0; i < std::ssize(in); ++i) {
      out[at(i)] = std::pow(10., -5 * static_cast<double>(begin + i) / 399) * in[at(i)];
    }
  };
  const std::vector<double> b = slices.part(random_vector<double>(400, 4));
  std::vector<double> x(b.size()), r(b.size());
  PipelinedConjugateGradient<double> solver(context, {a, b, x},
                                            {.limits = {.tolerance = 1e-13, .most_iterations = 20'000}});
  iterate::run(solver);
  EXPECT_NE(solver.state().end, iterate::End::limit) << solver.state().reason;
  a(x, r);
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = b[i] - r[i];
  krylov::Dots dots(context, Sums::fast);
  const double error = std::sqrt(dots.dot<double>(r, r) / dots.dot<double>(b, b));
  EXPECT_NEAR(solver.state().error, error, 1e-3 * error);
}

template <class Solver>
iterate::State ended(double sign, double tolerance, double right_side = 1, Index most = 1000) {
  mpi::Context context(test_comm());
  const Slices slices{100, ranks(), rank()};
  const Tridiagonal<double> a{context, slices};
  std::vector<double> b(at(slices.counts()[at(rank())]), right_side), x(b.size(), 0.5), r(b.size());
  const auto signed_a = [&](std::span<const double> in, std::span<double> out) {
    a(in, out);
    for (double& value : out) value *= sign;
  };
  Solver solver(context, {signed_a, b, x}, {.limits = {.tolerance = tolerance, .most_iterations = most}});
  iterate::run(solver);
  EXPECT_FALSE(solver.advance());
  EXPECT_TRUE(right_side != 0 || x == std::vector<double>(x.size(), 0.0));
  if (solver.state().end == iterate::End::converged && right_side != 0) {  // what it says is true
    signed_a(x, r);
    krylov::Dots dots(context, Sums::fast);
    for (std::size_t i = 0; i < r.size(); ++i) r[i] = b[i] - r[i];
    const double error = std::sqrt(dots.dot<double>(r, r) / dots.dot<double>(b, b));
    EXPECT_NEAR(solver.state().error, error, 1e-3 * error);
  }
  return solver.state();
}

template <class Solver>
void expect_ends() {
  using iterate::End;
  EXPECT_EQ(ended<Solver>(1, 1e-9).end, End::converged);
  EXPECT_EQ(ended<Solver>(1, 1e-9, 0).end, End::converged);
  EXPECT_EQ(ended<Solver>(1, 1e-9, 1, 3).end, End::limit);
  EXPECT_EQ(ended<Solver>(1, 1e-9, 1, 3).step, 3);
  EXPECT_EQ(ended<Solver>(1, 1e-9, 1, 0).end, End::limit);
  EXPECT_EQ(ended<Solver>(1, 1e-30).end, End::numbers);
  EXPECT_THAT(ended<Solver>(1, 1e-30).reason, HasSubstr("what rounding leaves"));
  EXPECT_EQ(ended<Solver>(-1, 1e-9).end, End::numbers);
  EXPECT_THAT(ended<Solver>(-1, 1e-9).reason, HasSubstr("A is not positive definite"));
  EXPECT_THAT(ended<Solver>(1, 1e-9, std::nan("")).reason, HasSubstr("is not finite"));
}

// A row of weight 1e6 for all: the rest is of no importance.
template <class Solver>
void expect_end_by_weights() {
  mpi::Context context(test_comm());
  const Slices slices{30, ranks(), rank()};
  const Tridiagonal<double> a{context, slices, 1};
  const std::vector<double> b = slices.part(random_vector<double>(30, 1));
  std::vector<double> whole(30, 1.);
  whole[11] = 1e6;
  const std::vector<double> weights = slices.part(whole);
  std::vector<double> x(b.size()), r(b.size());
  Solver solver(context, {a, b, x, weights}, {.limits = {.tolerance = 1e-5}, .sums = Sums::reproducible});
  iterate::run(solver);
  EXPECT_THAT(solver.state().reason, HasSubstr("‖D⁻¹ (b - A·x)‖/‖D⁻¹ b‖"));
  a(x, r);
  std::array<double, 2> squares{};
  for (std::size_t i = 0; i < r.size(); ++i) {
    squares[0] += std::pow(weights[i] * (b[i] - r[i]), 2);
    squares[1] += std::pow(weights[i] * b[i], 2);
  }
  mpi::all_reduce(context.comm(), std::span<double>(squares), mpi::Operation::sum());
  EXPECT_NEAR(solver.state().error, std::sqrt(squares[0] / squares[1]), 1e-9);
  EXPECT_LE(solver.state().error, 1e-5);
}

TEST(ConjugateGradients, EndByWeightedResiduals) {
  expect_end_by_weights<ConjugateGradient<double>>();
  expect_end_by_weights<PipelinedConjugateGradient<double>>();
}

TEST(ConjugateGradients, EndWithTheReason) {
  expect_ends<ConjugateGradient<double>>();
  expect_ends<PipelinedConjugateGradient<double>>();
}

// 2 - 2 cos(πi/(n+1)) are the eigenvalues of -1, 2, -1.
// An x that stands still is off by rounding, at least; where changes had grown before, what moves next is not known.
TEST(ErrorEstimate, IsNeverZero) {
  mpi::Context context(test_comm());
  const auto estimate = [&](const std::vector<double>& course) {
    krylov::ErrorEstimate<double> error(context, 1);
    Index step = 0;
    for (const double x : course) {
      while (!error.is_due(step)) ++step;
      error.look(step, std::span(&x, 1));
    }
    return error.by_changes();
  };
  EXPECT_NEAR(estimate({1, 1.5, 1.6}), 0.1 * 0.2 / 0.8 / 1.6, 1e-12);
  EXPECT_GT(estimate({1, 1.5, 1.6, 1.6}), 0);
  EXPECT_LT(estimate({1, 1.5, 1.6, 1.6}), 1e-15);
  EXPECT_EQ(estimate({1, 1.25, 2.25, 2.25}), INFINITY);
}

TEST(Lanczos, FindsTheExtremeEigenvaluesWithTheSameBitsOnAnyNumberOfRanks) {
  mpi::Context context(test_comm()), alone(MPI_COMM_SELF);
  for (const Index n : {1, 2, 9, 100, 1000}) {
    const double low = 2 - 2 * std::cos(M_PI / static_cast<double>(n + 1)), high = 4 - low;
    const std::vector<double> start = random_vector<double>(n, 6);
    const krylov::LanczosOptions options{.tolerance = 1e-3, .sums = Sums::reproducible};
    const Slices slices{n, ranks(), rank()}, whole{n, 1, 0};
    const auto found =
        krylov::lanczos<double>(context, Tridiagonal<double>{context, slices}, slices.part(start), options);
    EXPECT_GE(found.low, low * (1 - 1e-6));
    EXPECT_LE(found.low, low * 1.01) << n;
    EXPECT_NEAR(found.high, high, 1e-2 * high);
    EXPECT_LE(found.high, high * (1 + 1e-12));
    const auto expected = krylov::lanczos<double>(alone, Tridiagonal<double>{alone, whole}, start, options);
    EXPECT_EQ(found.low, expected.low);
    EXPECT_EQ(found.steps, expected.steps);
    const std::vector<double> none(slices.part(start).size());
    EXPECT_EQ((krylov::lanczos<double>(context, Tridiagonal<double>{context, slices}, none).steps), 0);
  }
}

TEST(ConjugateGradients, NameWhatIsWrongOnAllRanks) {
  mpi::Context context(test_comm());
  std::vector<double> b(3), x(rank() == 0 ? 2 : 3);
  const Operator<double> a = [](std::span<const double>, std::span<double>) {};
  EXPECT_THAT(message_of<ArgumentError>([&] { (ConjugateGradient<double>(context, {a, b, x})); }),
              HasSubstr("x: has 2 elements, expected 3"));
  std::vector<double> y(3);
  EXPECT_THAT(message_of<ArgumentError>(
                  [&] { (ConjugateGradient<double>(context, {a, b, y}, {.limits = {.tolerance = -1}})); }),
              HasSubstr("tolerance is -1"));
}

}  // namespace
}  // namespace plait::test
