#include "plait/sinkhorn/transport/stages.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "plait/base/error.hpp"

namespace plait::sinkhorn {

namespace {

Outcome out_of_range(std::string reason) { return {Status::numerical_limit, std::move(reason), 0, infinity}; }

}  // namespace

double relaxed_exponent(double rho, double epsilon) { return std::isinf(rho) ? 1 : rho / (rho + epsilon); }

double first_epsilon(double given, double highest, double last) {
  if (given > 0) return std::max(last, given);
  constexpr double wide = 40;
  return highest > wide * last ? highest / 10 : last;
}

double next_epsilon(double epsilon, double last) {
  // Within factors of 4 of the costs themselves little is gained.
  constexpr double step = 0.25;
  return std::max(last, epsilon * step);
}

StagesSoFar stages_of(const iterate::Checkpoint& checkpoint, double last) {
  const auto number = [&](const char* name) {
    const auto found = checkpoint.numbers.find(name);
    if (found == checkpoint.numbers.end()) throw ArgumentError(fmt::format("the state has no {}", name));
    return found->second;
  };
  StagesSoFar found{{}, number("epsilon"), static_cast<Domain>(number("domain"))};
  const auto& ended = iterate::vector_of(checkpoint.shared, "stages");
  for (std::size_t k = 0; k + 2 < ended.size(); k += 3) {
    found.ended.push_back({ended[k], static_cast<Index>(ended[k + 1]), static_cast<Domain>(ended[k + 2])});
  }
  if (found.epsilon >= last) return found;
  throw ArgumentError(fmt::format("the state has come to epsilon {}, expected {} at least", found.epsilon, last));
}

Limits limits_of_stage(const Limits& limits, double last, const StagesSoFar& so_far,
                       std::function<void(iterate::Checkpoint&)> put_potentials) {
  constexpr double rough = 1e-2;
  constexpr Index few = 100;
  Limits of_stage = limits;
  if (so_far.epsilon > last) {
    of_stage.tolerance = std::max(rough, limits.tolerance);
    // Not cut by the limit of the last stage: a run that is resumed with another one has come the same way.
    of_stage.most_iterations = limits.most_iterations > 0 ? few : 0;
  }
  of_stage.checkpoints.from = nullptr;
  if (!limits.checkpoints.keep) return of_stage;
  of_stage.checkpoints.keep = [keep = limits.checkpoints.keep, so_far,
                               put = std::move(put_potentials)](const iterate::Checkpoint& of_run) {
    iterate::Checkpoint checkpoint = of_run;
    checkpoint.numbers["epsilon"] = so_far.epsilon;
    checkpoint.numbers["domain"] = static_cast<double>(so_far.domain);
    std::vector<double>& ended = checkpoint.shared["stages"];
    for (const TransportStage& stage : so_far.ended) {
      ended.insert(ended.end(),
                   {stage.epsilon, static_cast<double>(stage.iterations), static_cast<double>(stage.domain)});
    }
    put(checkpoint);
    keep(checkpoint);
  };
  return of_stage;
}

template <class A>
std::optional<Outcome> beyond_range(double highest, double epsilon) {
  constexpr auto largest = static_cast<double>(std::numeric_limits<A>::max());
  constexpr auto* type = std::is_same_v<A, double> ? "double" : "float";
  constexpr double widest_potential = 1e4;  // in epsilons, beside what the costs make of it: logarithms of masses
  if (!(2 * (highest / largest) + widest_potential * (epsilon / largest) <= 1)) {
    return out_of_range(
        fmt::format("epsilon is {:.3g} and costs are as large as {:.3g}: potentials, which may be twice as "
                    "large as costs and {} epsilons beside, leave the range of {}; smaller numbers are needed",
                    epsilon, highest, widest_potential, type));
  }
  if (1 / epsilon > largest || highest / epsilon > largest) {
    return out_of_range(
        fmt::format("epsilon is {:.3g} and costs are as large as {:.3g}: in units of epsilon they are beyond the "
                    "range of {}; a larger epsilon is needed",
                    epsilon, highest, type));
  }
  // Nothing comes of plans that are known to a factor of e^1000, however many stages lead to them.
  constexpr double most_epsilons = 1e3;
  const double rounding = highest / epsilon * roundoff_of<A>();
  if (rounding <= most_epsilons) return std::nullopt;
  return out_of_range(
      fmt::format("costs are as large as {:.3g}, which {}s round to {:.3g} epsilons of {:.3g}; a larger epsilon is "
                  "needed",
                  highest, type, rounding, epsilon));
}

template std::optional<Outcome> beyond_range<double>(double, double);
template std::optional<Outcome> beyond_range<float>(double, double);

}  // namespace plait::sinkhorn
