#include "plait/poisson/relaxation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/base/random.hpp"
#include "plait/mpi/agreed.hpp"

namespace plait::poisson {

namespace {

// How much Ritz values may still change: little, as over-relaxation suffers from too small an ω most of all.
constexpr double ritz_tolerance = 0.02;

}  // namespace

// Of D^-½ A D^-½, which is symmetric and has the same.
krylov::Extremes scaled_spectrum(mpi::Context& context, Equation& equation) {
  Level& level = equation.level();
  const Values& inverse = level.inverse_diagonal();
  struct Vectors {
    Values u;
    std::vector<double> scale, start, scaled;
  };
  Vectors memory = mpi::agreed(context, [&] {
    const std::vector<double> own = level.own_values(inverse);
    return Vectors{level.zeros(), own, own, own};
  });
  std::vector<double>&scale = memory.scale, &start = memory.start, &scaled = memory.scaled;
  const layout::Box whole = level.partition().whole();
  std::size_t number = 0;
  level.for_each_point([&](std::size_t, const layout::Point& point) {
    constexpr std::uint64_t seed = 24;
    scale[number] = level.is_inside(point) ? std::sqrt(scale[number]) : 0;
    start[number++] = random_uniform(seed, static_cast<std::uint64_t>(whole.offset_of(point))) - 0.5;
  });
  equation.remove_means(start);
  std::ranges::transform(start, scale, start.begin(), std::multiplies<>());
  const krylov::Operator<double> a = [&](std::span<const double> in, std::span<double> out) {
    std::ranges::transform(in, scale, scaled.begin(), std::multiplies<>());
    level.multiply(scaled, memory.u, out);
    std::ranges::transform(out, scale, out.begin(), std::multiplies<>());
  };
  // What is in the range of A: D^½ times it has mean 0 on parts where constants are free.
  const krylov::Projection<double> project = [&](std::span<double> values) {
    std::ranges::transform(values, scale, values.begin(), [](double v, double s) { return s > 0 ? v / s : 0; });
    equation.remove_means(values);
    std::ranges::transform(values, scale, values.begin(), std::multiplies<>());
  };
  return krylov::lanczos<double>(context, a, start, {.tolerance = ritz_tolerance, .sums = krylov::Sums::reproducible},
                                 equation.has_free_parts() ? project : krylov::Projection<double>{});
}

double best_omega(mpi::Context& context, Equation& equation) {
  double all = 0, largest = 0;
  bool is_known = equation.constant().has_value();
  for (const Axis& axis : equation.level().axes()) {
    if (!axis.is_used() || (axis.is_periodic() && axis.extent() == 1)) continue;
    if (axis.is_periodic() && axis.extent() % 2 == 1) return 1;
    const double weight = 1 / (axis.spacing() * axis.spacing());
    all += weight;
    largest += weight * std::cos(std::numbers::pi * axis.spacing() / axis.length());
    is_known = is_known && axis.first_coarse() == 1;  // nodes
  }
  double rho = largest / all;
  if (!is_known) {
    const krylov::Extremes found = scaled_spectrum(context, equation);
    rho = found.steps == 0 ? 0 : 1 - (1 - ritz_tolerance) * found.low;
  }
  rho = std::clamp(rho, 0., 1.);
  return 2 / (1 + std::sqrt(1 - rho * rho));
}

StepIteration::StepIteration(mpi::Context& context, Equation& equation, Index steps, double omega,
                             const std::optional<Bounds>& bounds)
    : equation_(equation),
      steps_(steps),
      omega_(omega),
      bounds_(bounds),
      step_(mpi::agreed(context, [&] { return bounds ? equation.level().zeros() : Values(); })),
      exchange_(context, equation.level().ghosts(steps, steps > 1 ? halo::Reach::corners_by_axes : halo::Reach::faces),
                Index{sizeof(double)}, bounds && steps > 1 ? 2 : 1) {}

void StepIteration::find_residual(Values& u, Values& r) {
  const std::array<halo::Field, 2> fields{{{u.data(), u.data()}, {step_.data(), step_.data()}}};
  exchange_(std::span(fields).first(bounds_ && steps_ > 1 ? 2 : 1));
  equation_.level().residual(u, equation_.right_side(), r, steps_ - 1);
}

void StepIteration::advance(Values& u, Values& r) {
  for (Index margin = steps_ - 1; margin >= 0; --margin) {
    take_step(u, r, margin);
    if (margin > 0) equation_.level().residual(u, equation_.right_side(), r, margin - 1);
  }
}

void StepIteration::take_step(Values& u, const Values& r, Index margin) {
  Level& level = equation_.level();
  if (!bounds_) {
    return level.for_each_scaled(
        r, margin, [omega = omega_, out = u.data()](Index p, double scaled) { out[p] += omega * scaled; });
  }
  const double middle = (bounds_->high + bounds_->low) / 2, half = (bounds_->high - bounds_->low) / 2;
  double alpha = 1 / middle, beta = 0;
  if (rho_ == 0) {
    rho_ = half / middle;
  } else {
    const double rho = 1 / (2 * middle / half - rho_);
    alpha = 2 * rho / half;
    beta = rho * rho_;
    rho_ = rho;
  }
  level.for_each_scaled(r, margin, [=, out = u.data(), step = step_.data()](Index p, double scaled) {
    step[p] = alpha * scaled + beta * step[p];
    out[p] += step[p];
  });
}

void StepIteration::save(iterate::Checkpoint& checkpoint) const {
  if (!bounds_) return;
  checkpoint.by_rank["step"] = equation_.level().own_values(step_);
  checkpoint.numbers["ρ"] = rho_;
}

void StepIteration::resume(const iterate::Checkpoint& checkpoint) {
  if (!bounds_) return;
  const std::vector<double>& step = iterate::vector_of(checkpoint.by_rank, "step");
  const auto rho = checkpoint.numbers.find("ρ");
  if (rho == checkpoint.numbers.end() || std::ssize(step) != equation_.level().own().points()) {
    throw ArgumentError(fmt::format("the state has {} values of the last step, expected {}, and ρ", step.size(),
                                    equation_.level().own().points()));
  }
  rho_ = rho->second;
  equation_.level().copy_in(step, step_);
}

}  // namespace plait::poisson
