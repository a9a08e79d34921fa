#include "plait/sinkhorn/transport/transport_checks.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/sinkhorn/course/limits.hpp"
#include "plait/sinkhorn/sweep/update.hpp"
#include "plait/sinkhorn/transport/epsilon.hpp"

namespace plait::sinkhorn {

void expect_suitable(const TransportOptions& options, mpi::Alike& arguments) {
  arguments.add("epsilon", options.epsilon);
  arguments.add("first epsilon", options.first_epsilon);
  arguments.add("domain", options.domain);
  arguments.add("rho of the rows", options.rho.rows);
  arguments.add("rho of the columns", options.rho.columns);
  arguments.add("over-relaxation", options.over_relaxation);
  arguments.add("checkpoints", options.keep != nullptr);
  arguments.add("state to go on from", options.from != nullptr);
  name_arguments(options.limits, arguments);
  expect_valid(options.limits);
  if (!(options.epsilon > 0) || !std::isfinite(options.epsilon)) {
    throw ArgumentError(fmt::format("epsilon is {}, expected a finite number > 0", options.epsilon));
  }
  if (options.first_epsilon != 0 &&
      !(options.first_epsilon >= options.epsilon && std::isfinite(options.first_epsilon))) {
    throw ArgumentError(fmt::format("the first epsilon is {}, expected a finite number >= {}, the last one",
                                    options.first_epsilon, options.epsilon));
  }
  for (const auto& [rho, of] : {std::pair{options.rho.rows, "rows"}, {options.rho.columns, "columns"}}) {
    if (!(rho > 0)) {
      throw ArgumentError(fmt::format("rho of the {} is {}, expected a number > 0, infinity for none", of, rho));
    }
    // Where the exponent rounds to 1 sums would have to be the masses, and where it is no number they could be
    // anything.
    const double power = relaxed_exponent(rho, options.epsilon);
    if (std::isinf(rho) || (power < 1 && std::isfinite(1 / power))) continue;
    throw ArgumentError(
        fmt::format("rho of the {} is {} and epsilon is {}: rho / (rho + epsilon) rounds to {}, expected a {} rho{}",
                    of, rho, options.epsilon, power, power < 1 ? "larger" : "smaller",
                    power < 1 ? "" : ", or infinity for balanced transport"));
  }
  expect_valid(Update{1, 1, options.over_relaxation});
}

template <class T>
void expect_row_major(matrix_view<const T> costs) {
  if (costs.empty() || costs.order() == StorageOrder::row_major) return;
  throw ArgumentError("the costs are column-major, expected row-major: their transpose is, with marginals exchanged");
}

CheckedMarginals checked_masses_of(mpi::Context& context, Index rows, Index columns, const Marginals& marginals,
                                   const Rho& rho) {
  return rho.is_balanced() ? checked_marginals(context, rows, columns, marginals)
                           : checked_masses(context, rows, columns, marginals);
}

std::vector<CheckedMarginals> checked_masses_of_each(mpi::Context& context, Index rows, Index columns,
                                                     std::span<const Marginals> problems, const Rho& rho) {
  return rho.is_balanced() ? checked_marginals_of_each(context, rows, columns, problems)
                           : checked_masses_of_each(context, rows, columns, problems);
}

std::vector<CheckedMarginals> masses_that_are_had(mpi::Context& context, std::span<const CheckedMarginals> masses,
                                                  const Rho& rho) {
  auto had = mpi::agreed(context, [&] { return std::vector<CheckedMarginals>(masses.begin(), masses.end()); });
  for (CheckedMarginals& of_problem : had) {
    if (std::isfinite(rho.rows)) std::ranges::fill(of_problem.rows, 0.0);
    if (std::isfinite(rho.columns)) std::ranges::fill(of_problem.columns, 0.0);
  }
  return had;
}

template void expect_row_major(matrix_view<const double>);
template void expect_row_major(matrix_view<const float>);

}  // namespace plait::sinkhorn
