#include "plait/learn/solver.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/base/random.hpp"
#include "plait/base/rounding.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::learn {

namespace {

constexpr std::size_t most_pairs = 20;

/// a + t b
Weights sum_of(const Weights& a, double t, const Weights& b) {
  Weights sum = a;
  iterate::add(t, b, sum);
  return sum;
}

Options checked(const Samples& samples, Options options) {
  return mpi::agreed(samples.context(), [&](mpi::Alike& alike) {
    alike.add("method", options.method);
    alike.add("weight of the square", options.l2);
    alike.add("intercept", options.intercept);
    alike.add("samples of a batch", options.batch);
    alike.add("step", options.step);
    alike.add("seed", options.seed);
    alike.add("exchange", options.exchange);
    iterate::name_arguments(options.limits, alike);
    iterate::expect_valid(options.limits);
    expect_step_and_l2(options.step, options.l2);
    if (options.batch < 1) {
      throw ArgumentError(fmt::format("the number of samples of a batch is {}, expected at least 1", options.batch));
    }
    if (options.method == Method::sgd || options.method == Method::parallel_sgd) options.batch = 1;
    options.batch = std::min(options.batch, samples.training());
    return options;
  });
}

}  // namespace

const char* name(Method method) {
  return std::array{"lbfgs", "batch", "minibatch", "sgd", "parallel-sgd", "asgd"}[static_cast<std::size_t>(method)];
}

Index bytes_of_solver(const mpi::Context& context, const Options& options, Index outputs, Index columns) noexcept {
  constexpr Index vectors = 8;  // weights and gradients, here and there
  constexpr Index sums = 12;    // words of one, which `collective::GroupSums` has thrice
  const Index pairs = options.method == Method::lbfgs ? 2 * static_cast<Index>(most_pairs) : 0;
  const Index states =
      options.method == Method::asgd ? iterate::AsynchronousDescent::states(context, options.exchange) : 0;
  return (vectors + sums + pairs + states) * outputs * (columns + 1) * Index{sizeof(double)};
}

Solver::Solver(const Samples& samples, const Options& options, const Weights* start)
    : samples_(samples),
      options_(checked(samples, options)),
      course_(options.limits,
              {.roundoff = std::numeric_limits<double>::epsilon(),
               .span = 16,
               .errors = iterate::Errors::fluctuate,
               .terms = "sums over samples"},
              "the gradient"),
      objective_(samples, options.l2, options.intercept),
      pairs_(mpi::agreed(samples.context(), [&] {
        return iterate::CurvaturePairs(options.method == Method::lbfgs ? most_pairs : 0, at(objective_.size()));
      })) {
  mpi::agreed(samples.context(), [&] {
    u_.resize(objective_.size());
    if (start != nullptr) u_ = objective_.variables(*start);
  });
  // A gradient of few samples varies as that of one does, one of many is as steep as all are.
  const double curvature =
      options_.method == Method::batch
          ? objective_.mean_curvature()
          : 2 * (objective_.mean_curvature() + objective_.highest_curvature() / static_cast<double>(options_.batch));
  step_ = options_.step > 0 ? options_.step : 1 / curvature;
  if (options_.method == Method::asgd) {
    descent_.emplace(samples.context(), objective_.size(), options_.seed, options_.exchange);
  }
}

double Solver::error() const {
  const double unit = samples_.model() == Model::linear ? samples_.deviations().back() : 1;
  return std::sqrt(iterate::dot(here_.gradient, here_.gradient)) / (unit > 0 ? unit : 1);
}

bool Solver::advance() {
  if (course_.is_over()) return false;
  if (course_.is_at_limit()) {
    if (state().step == 0) {
      course_.end(iterate::End::finished, "nothing was to be learnt");
    } else if (options_.method == Method::parallel_sgd) {
      course_.finish();
    } else {
      course_.end_at_limit();
    }
    return false;
  }
  mpi::agreed(samples_.context(), [&] {
    if (!course_.has_room()) course_.make_room();
    objectives_.reserve(objectives_.size() + 1);
  });
  if (!has_begun_) objective_.evaluate(u_, here_);
  has_begun_ = true;
  const double before = error();
  if (before > options_.limits.tolerance) {
    if (options_.method == Method::lbfgs && !step_by_curvature()) {
      course_.end(
          iterate::End::numbers,
          fmt::format("the error stays at {:.3g}, as no step makes the objective less in the numbers that there "
                      "are; the tolerance is {:.3g}",
                      before, options_.limits.tolerance));
      return false;
    }
    if (options_.method == Method::batch) step_down();
    if (options_.method == Method::minibatch || options_.method == Method::sgd) go_through_epoch();
    if (options_.method == Method::parallel_sgd) go_through_own_samples();
    if (options_.method == Method::asgd) go_through_own_batches();
  }
  if (!here_.is_finite) {
    throw ArgumentError(
        fmt::format("the step is {:.3g}, with which the weights leave the range of numbers after {} "
                    "iterations; expected a smaller one",
                    step_, course_.state().step));
  }
  objectives_.push_back(here_.objective);
  course_.took(error());
  return true;
}

/// Goes to where the slope along a direction has become small, as that of a convex function tells where its least
/// value is. False, and still here, where rounding leaves nothing to gain.
bool Solver::search(const Weights& direction) {
  const double slope = iterate::dot(here_.gradient, direction);
  constexpr double small = 0.9;  // of the slope here: enough for L-BFGS
  constexpr int most_trials = 60;
  double low = 0, low_slope = slope;
  double high = 0, high_slope = 0;  // none so far
  double t = pairs_.empty() ? std::min(1.0, 1 / std::sqrt(iterate::dot(direction, direction))) : 1;
  Value there;
  for (int trial = 0; trial < most_trials && slope < 0; ++trial) {
    Weights u = sum_of(u_, t, direction);
    objective_.evaluate(u, there);
    const double its = there.is_finite ? iterate::dot(there.gradient, direction) : HUGE_VAL;
    const bool is_lower = there.is_finite && there.objective <= here_.objective;
    if (its >= small * slope && (its <= 0 || (is_lower && its <= -small * slope))) {
      iterate::CurvaturePairs::Pair& pair = pairs_.next();
      std::ranges::transform(u, u_, pair.step.begin(), std::minus());
      std::ranges::transform(there.gradient, here_.gradient, pair.change.begin(), std::minus());
      pair.curvature = iterate::dot(pair.step, pair.change);
      if (pair.curvature > 0) pairs_.keep();
      std::swap(u_, u);
      std::swap(here_, there);
      return true;
    }
    (its < 0 ? low : high) = t;
    (its < 0 ? low_slope : high_slope) = its;
    if (high == 0) {
      t *= 4;
    } else {
      const double share = std::isfinite(high_slope) ? low_slope / (low_slope - high_slope) : 0.1;
      t = low + (high - low) * std::clamp(share, 0.1, 0.9);
    }
  }
  return false;
}

bool Solver::step_by_curvature() {
  Weights direction = here_.gradient;
  pairs_.apply(direction, [&](std::span<double> vector) {
    if (pairs_.empty()) return;
    const auto& [step, change, curvature] = pairs_.newest();
    const double unit = curvature / iterate::dot(change, change);
    for (double& each : vector) each *= unit;
  });
  for (double& each : direction) each = -each;
  if (search(direction)) return true;
  if (pairs_.empty()) return false;
  pairs_.clear();
  return step_by_curvature();
}

/// One step against the gradient. Unless its length is given, it is at most as long as the function falls along it, and
/// at least half as long.
void Solver::step_down() {
  const bool is_given = options_.step > 0;
  if (!is_given) step_ *= 2;
  Value there;
  while (true) {
    Weights u = sum_of(u_, -step_, here_.gradient);
    objective_.evaluate(u, there);
    constexpr double least = 1e-30;
    if (is_given || step_ < least || (there.is_finite && iterate::dot(there.gradient, here_.gradient) >= 0)) {
      std::swap(u_, u);
      std::swap(here_, there);
      return;
    }
    step_ /= 2;
  }
}

/// As many samples as there are, a batch at a time, each drawn from all. The gradient of a batch here, less that where
/// the epoch began, plus that of all there: its mean is that of all here, and its variance falls as the steps do.
void Solver::go_through_epoch() {
  const Weights start = u_;
  const Index steps = quotient_up(samples_.training(), options_.batch);
  auto counter = static_cast<std::uint64_t>(course_.state().step) * static_cast<std::uint64_t>(steps * options_.batch);
  const bool has_server = options_.exchange == iterate::Exchange::server;
  Weights gradient;
  Vector<Index> rows;
  for (Index s = 0; s < steps; ++s) {
    rows.clear();
    for (Index b = 0; b < options_.batch; ++b, ++counter) {
      const auto count = static_cast<std::uint64_t>(samples_.count());
      auto bits = random_bits(options_.seed, counter);
      while (samples_.held_out().has(static_cast<Index>(bits % count))) bits = random_bits(bits, counter);
      const Index i = static_cast<Index>(bits % count) - samples_.first();
      if (i >= 0 && i < samples_.own().count()) rows.push_back(i);
    }
    objective_.difference(u_, start, rows, options_.batch, gradient, has_server);
    for (Index i = 0; i < u_.count(); ++i) u_[i] -= step_ * (gradient[i] + here_.gradient[i]);
    if (has_server) mpi::broadcast(samples_.context().comm(), std::span<double>(u_), 0);
  }
  end_epoch(start);
}

/// Unless the length of steps is given, an epoch after which the objective is larger is to be done once more from its
/// start, with shorter ones.
void Solver::end_epoch(const Weights& start) {
  Value there;
  objective_.evaluate(u_, there);
  if (options_.step > 0) {
    std::swap(here_, there);
    return;
  }
  const double room = 0x1p-40 * std::abs(here_.objective);
  if (!there.is_finite || there.objective > here_.objective + room) {
    u_ = start;
    least_wrong_step_ = step_;
    step_ /= 2;
    return;
  }
  std::swap(here_, there);
  constexpr double growth = 1.25;
  if (least_wrong_step_ == 0 || growth * step_ < least_wrong_step_) step_ *= growth;
}

/// As many of a rank's samples as it has, drawn from them, with steps that become shorter from epoch to epoch; then the
/// average of all ranks.
void Solver::go_through_own_samples() {
  const auto epoch = static_cast<std::uint64_t>(course_.state().step);
  const double length = step_ / static_cast<double>(epoch + 1);
  const Weights start = u_;
  const Vector<Index> own = samples_.own_training();
  const auto count = static_cast<std::uint64_t>(own.count());
  Weights gradient;
  for (std::uint64_t t = 0; t < count; ++t) {
    const std::uint64_t counter =
        epoch * static_cast<std::uint64_t>(samples_.count()) + static_cast<std::uint64_t>(samples_.first()) + t;
    const Index row = own[static_cast<Index>(random_bits(options_.seed, counter) % count)];
    objective_.own_gradient(u_, {&row, 1}, gradient);
    iterate::add(-length, gradient, u_);
  }
  average(start);
  objective_.evaluate(u_, here_);
}

/// As many samples as there are, on all ranks together; each draws batches from its own.
void Solver::go_through_own_batches() {
  const Weights start = u_;
  const Vector<Index> own = samples_.own_training();
  const auto count = static_cast<std::uint64_t>(own.count());
  const std::uint64_t seed = random_bits(~options_.seed, static_cast<std::uint64_t>(samples_.context().rank()));
  // Other draws in each epoch, which has as many as there are samples at most, and a batch.
  auto counter = static_cast<std::uint64_t>(course_.state().step) << 40;
  Vector<Index> rows(std::min(options_.batch, own.count()));
  Weights gradient, before;
  descent_->begin(samples_.training(), own.count());
  while (descent_->goes_on()) {
    for (Index& row : rows) row = own[static_cast<Index>(random_bits(seed, counter++) % count)];
    objective_.own_gradient(u_, rows, gradient);
    objective_.own_gradient(start, rows, before);
    for (Index i = 0; i < u_.count(); ++i) gradient[i] += here_.gradient[i] - before[i];
    descent_->step(u_, gradient, step_, rows.count());
  }
  average(start);
  end_epoch(start);
}

/// Goes from the start of the epoch to the mean of where all ranks are, each as much as it has samples, or along all
/// their ways where they have a server; to infinite weights, which have no objective, where some are beyond the range.
void Solver::average(const Weights& start) {
  const bool adds_up = descent_ && options_.exchange == iterate::Exchange::server;
  const double share = static_cast<double>(samples_.own_training().count()) / static_cast<double>(samples_.training());
  double largest = 0;
  for (Index i = 0; i < u_.count(); ++i) {
    u_[i] = adds_up ? descent_->way()[at(i)] : share * (u_[i] - start[i]);
    if (!(std::abs(u_[i]) <= largest)) largest = std::abs(u_[i]);
  }
  largest =
      mpi::all_reduce(samples_.context().comm(), largest < 0x1p200 ? largest : HUGE_VAL, mpi::Operation::maximum());
  if (largest == HUGE_VAL) {
    u_.assign(u_.size(), HUGE_VAL);
    return;
  }
  const std::vector<double> bounds(u_.size(), largest);
  collective::GroupSums sums(collective::window_within(bounds, 0, samples_.context().size()), 1);
  sums.add(u_.data(), 1, 0);
  sums.merge(samples_.context());
  for (Index i = 0; i < u_.count(); ++i) u_[i] = start[i] + sums.rounded(0, i);
}

Quality Solver::quality() const {
  const LinearModel its_model = model();
  return quality_of(samples_, [&](std::span<const Index> rows, std::vector<double>& said) {
    its_model.predict(samples_.model(), samples_.classes(), samples_.own(), rows, said);
  });
}

void Solver::save(iterate::Checkpoint& checkpoint) const {
  course_.save(checkpoint);
  checkpoint.shared["variables"] = u_;
  checkpoint.shared["objectives"] = objectives_;
  checkpoint.numbers["step"] = step_;
  checkpoint.numbers["least wrong step"] = least_wrong_step_;
  pairs_.save(checkpoint);
}

void Solver::resume(const iterate::Checkpoint& checkpoint) {
  mpi::agreed(samples_.context(), [&](mpi::Alike& alike) {
    iterate::name_arguments(checkpoint, alike);
    const Weights u = iterate::vector_of(checkpoint.shared, "variables");
    if (u.count() != u_.count()) {
      throw ArgumentError(fmt::format("the state has {} variables, expected {}", u.count(), u_.count()));
    }
    pairs_.resume(checkpoint);
    u_ = u;
    objectives_ = iterate::vector_of(checkpoint.shared, "objectives");
    step_ = checkpoint.numbers.at("step");
    least_wrong_step_ = checkpoint.numbers.at("least wrong step");
    course_.resume(checkpoint);
  });
  has_begun_ = false;
}

}  // namespace plait::learn
