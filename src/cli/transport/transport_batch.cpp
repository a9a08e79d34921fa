#include "cli/transport/transport_batch.hpp"

#include <utility>

#include <fmt/format.h>

#include "plait/layout/text.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/sinkhorn/transport/transport_batch.hpp"

#include "cli/scaling/batch_report.hpp"
#include "cli/scaling/marginal_batch.hpp"
#include "cli/scaling/scaled_job.hpp"

namespace plait::cli {

namespace {

template <class T, class A>
sinkhorn::MarginalErrors errors_of_plan(mpi::Context& context, matrix_view<const T> costs,
                                        const TransportJobOptions& options, const sinkhorn::Rho& rho,
                                        const sinkhorn::Marginals& marginals, const sinkhorn::Transport<A>& found) {
  const auto checked = rho.is_balanced()
                           ? sinkhorn::checked_marginals(context, costs.rows(), costs.columns(), marginals)
                           : sinkhorn::wanted_masses<A>(context, marginals, rho, found.f, found.g);
  sinkhorn::MarginalSums sums(checked);
  mpi::agreed(context, [&] {
    sinkhorn::for_each_plan_row<T, A>(costs, options.epsilon, found.f, found.g,
                                      [&](Index i, std::span<const A> row) { sums.add(i, row); });
  });
  return sums.errors(context);
}

template <class T, class A>
BatchOutcome transported_batch(mpi::Context& context, const TransportJobOptions& options, const ScaledJob& job,
                               Index problems, Meter& meter) {
  BatchOutcome result;
  result.precision = job.precision;
  const JointStopwatch all(context);
  meter.stage("reading " + options.input, 0, layout::elements(job.file.shape) * io::bytes(job.file.dtype));
  auto matrix = read_scaled<T>(context, options.input, job.file, meter.progress());
  const bool is_transposed = matrix.is_transposed();
  const matrix_view<const T> rows = matrix.rows();
  const MarginalBatch given(context, options, problems, job.file.shape, is_transposed);
  const auto marginals = given.marginals();
  result.read_seconds = all.seconds();

  meter.stage(fmt::format("transporting {} pairs of masses", problems), 0, 0);
  const JointStopwatch iterating(context);
  const sinkhorn::TransportOptions how{
      .epsilon = options.epsilon,
      .domain = options.domain,
      .first_epsilon = options.first_epsilon,
      .limits = limits_of(context, options, job.precision, meter, result.log),
      .rho = is_transposed ? sinkhorn::Rho{options.rho.columns, options.rho.rows} : options.rho,
      .over_relaxation = options.over_relaxation};
  const auto transports = sinkhorn::transport_batch<T, A>(context, rows, marginals, how);
  result.iterate_seconds = iterating.seconds();

  const JointStopwatch writing(context);
  std::vector<std::vector<double>> f;
  std::vector<std::vector<double>> g;
  bool are_factors = true;
  for (std::size_t k = 0; k < transports.size(); ++k) {
    const auto& found = transports[k];
    ProblemOutcome problem{found.outcome, errors_of_plan<T, A>(context, rows, options, how.rho, marginals[k], found)};
    for (const auto& stage : found.stages) problem.iterations += stage.iterations;
    problem.cost = found.cost;
    problem.dual = found.dual;
    problem.gap = found.gap();
    are_factors = are_factors && found.stages.back().domain == sinkhorn::Domain::factors;
    result.iterations = std::max(result.iterations, problem.iterations);
    result.problems.push_back(std::move(problem));
    f.emplace_back(found.f.begin(), found.f.end());
    g.emplace_back(found.g.begin(), found.g.end());
  }
  expect_plans(context, options, result, is_transposed);
  result.swept_bytes = are_factors ? layout::elements(job.file.shape) * Index{sizeof(A)} : 0;
  write_row_vectors(context, is_transposed ? options.of_columns : options.of_rows, f, is_transposed);
  write_column_vectors(context, is_transposed ? options.of_rows : options.of_columns, g, is_transposed);
  result.write_seconds = writing.seconds();
  result.seconds = all.seconds();
  return result;
}

nlohmann::ordered_json batch_json(const mpi::Context& context, const TransportJobOptions& options, const ScaledJob& job,
                                  const BatchOutcome& outcome) {
  const auto number_or_null = [](double number) {
    return std::isfinite(number) ? nlohmann::ordered_json(number) : nlohmann::ordered_json();
  };
  auto json = scaled_json(context, "transport", options, job.file, job.memory, outcome);
  json["epsilon"] = options.epsilon;
  json["rho"] = {{"rows", number_or_null(options.rho.rows)}, {"columns", number_or_null(options.rho.columns)}};
  json["row_potentials"] = options.of_rows.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(options.of_rows);
  json["column_potentials"] =
      options.of_columns.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(options.of_columns);
  json["problems"] = problems_json(outcome, true);
  return json;
}

}  // namespace

void run_transport_batch(mpi::Context& context, const TransportJobOptions& options, Index problems) {
  mpi::agreed(context, [&] { expect_none_of_one(options, problems); });
  const ScaledJob job = prepared(context, options, [&options](Precision precision) -> Index {
    if (options.domain == sinkhorn::Domain::logarithmic) return 0;
    return precision == Precision::f32 ? 4 : 8;
  });
  const auto work = [&](Meter& meter) {
    switch (job.precision) {
      case Precision::f32: return transported_batch<float, float>(context, options, job, problems, meter);
      case Precision::mixed: return transported_batch<float, double>(context, options, job, problems, meter);
      default: return transported_batch<double, double>(context, options, job, problems, meter);
    }
  };
  carry_out(
      context, options, work, [&](const BatchOutcome& outcome) { return batch_json(context, options, job, outcome); },
      [&](const BatchOutcome& outcome) {
        return fmt::format("P = exp((f + g - C) / epsilon) of {} pairs of masses   C is {}, {}, epsilon {}\n{}{}",
                           problems, layout::to_string(job.file.shape), name(job.precision), options.epsilon,
                           problems_summary(outcome), scaled_summary(options, job.file, outcome));
      },
      [&](const BatchOutcome& outcome) {
        PageFacts page = problems_facts(outcome, true);
        page.rows.insert(page.rows.begin(), {"epsilon", fmt::format("{}", options.epsilon)});
        page.next_stage = "another problem, or a smaller epsilon";
        return page;
      });
}

}  // namespace plait::cli
