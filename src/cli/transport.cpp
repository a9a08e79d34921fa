#include "cli/transport.hpp"

#include <cmath>

#include <fmt/format.h>

#include "plait/layout/text.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/sinkhorn/transport.hpp"

#include "cli/scaled_job.hpp"

namespace plait::cli {

namespace {

using nlohmann::ordered_json;

/// What is told beside what every job of the kind tells.
struct TransportOutcome : ScaledOutcome {
  std::vector<sinkhorn::TransportStage> stages;
  double cost = 0;
  double dual = 0;
  double gap = 0;
  double row_divergence = 0;
  double column_divergence = 0;
};

template <class T, class A>
TransportOutcome transported(mpi::Context& context, const TransportJobOptions& options, const io::MatrixFile& file,
                             Precision precision, Meter& meter) {
  TransportOutcome result;
  result.precision = precision;
  const JointStopwatch all(context);
  meter.stage("reading " + options.input, 0, layout::elements(file.shape) * io::bytes(file.dtype));
  auto matrix = read_scaled<T>(context, options.input, file, meter.progress());
  const matrix_view<T> rows = matrix.rows();
  ScaledMarginals given(context, options, file.shape, matrix.is_transposed(), rows.rows());
  const layout::Shape shape = matrix.is_transposed() ? layout::Shape{file.shape.columns, file.shape.rows} : file.shape;
  if (options.rows.empty() && options.columns.empty()) given.default_to_unit_mass(shape, rows.rows());
  const auto start = read_start<A>(context, options, matrix.is_transposed());
  result.read_seconds = all.seconds();

  meter.stage("transporting", 0, 0);
  const JointStopwatch iterating(context);
  sinkhorn::TransportOptions how{
      options.epsilon,
      options.domain,
      options.first_epsilon,
      limits_of(options, precision, meter),
      matrix.is_transposed() ? sinkhorn::Rho{options.rho.columns, options.rho.rows} : options.rho,
      options.over_relaxation};
  const auto found = sinkhorn::transport<T, A>(context, rows, given.marginals(), how, start);
  result.iterate_seconds = iterating.seconds();
  result.outcome = found.outcome;
  result.stages = found.stages;
  for (const auto& stage : found.stages) result.iterations += stage.iterations;
  result.cost = found.cost;
  result.dual = found.dual;
  result.gap = found.gap();
  result.row_divergence = matrix.is_transposed() ? found.column_divergence : found.row_divergence;
  result.column_divergence = matrix.is_transposed() ? found.row_divergence : found.column_divergence;

  const JointStopwatch writing(context);
  sinkhorn::transport_plan_in_place<T, A>(rows, options.epsilon, found.f, found.g);
  const auto checked = how.rho.is_balanced()
                           ? sinkhorn::checked_marginals(context, rows.rows(), rows.columns(), given.marginals())
                           : sinkhorn::wanted_masses<A>(context, given.marginals(), how.rho, found.f, found.g);
  result.check = sinkhorn::marginal_errors<T>(context, rows, checked);
  expect_plan(context, result.outcome, result.check);
  write_plan(context, options, matrix, found.f, found.g, meter);
  result.write_seconds = writing.seconds();
  result.seconds = all.seconds();
  return result;
}

ordered_json number_or_null(double number) { return std::isfinite(number) ? ordered_json(number) : ordered_json(); }

ordered_json json_report(const mpi::Context& context, const TransportJobOptions& options, const ScaledJob& job,
                         const TransportOutcome& outcome) {
  auto report = scaled_json(context, "transport", options, job.file, job.memory, outcome);
  report["epsilon"] = options.epsilon;
  report["row_potentials"] = options.of_rows.empty() ? ordered_json() : ordered_json(options.of_rows);
  report["column_potentials"] = options.of_columns.empty() ? ordered_json() : ordered_json(options.of_columns);
  report["cost"] = outcome.cost;
  report["dual"] = outcome.dual;
  report["gap"] = outcome.gap;
  report["rho"] = {{"rows", number_or_null(options.rho.rows)}, {"columns", number_or_null(options.rho.columns)}};
  report["divergence"] = {{"rows", outcome.row_divergence}, {"columns", outcome.column_divergence}};
  report["stages"] = ordered_json::array();
  for (const auto& stage : outcome.stages) {
    report["stages"].push_back(
        {{"epsilon", stage.epsilon}, {"iterations", stage.iterations}, {"domain", name(stage.domain)}});
  }
  return report;
}

std::string summary(const TransportJobOptions& options, const io::MatrixFile& file, const TransportOutcome& outcome) {
  std::string text = fmt::format("P = exp((f + g - C) / epsilon)   C is {}, {}, epsilon {}\n",
                                 layout::to_string(file.shape), name(outcome.precision), options.epsilon);
  text += fmt::format("  {:<10}{:.10g}; with the entropy {:.10g}, a gap of {:.2g} to the dual\n", "cost", outcome.cost,
                      outcome.dual + outcome.gap, outcome.gap);
  if (!options.rho.is_balanced()) {
    text += fmt::format("  {:<10}{:.6g} is moved; rows: rho {}, KL {:.6g}; columns: rho {}, KL {:.6g}\n", "mass",
                        outcome.check.mass, options.rho.rows, outcome.row_divergence, options.rho.columns,
                        outcome.column_divergence);
  }
  text += fmt::format("  {:<10}{}{}\n", "domain", name(outcome.stages.back().domain),
                      outcome.stages.size() > 1 ? fmt::format("; epsilon from {:.3g} down in {} stages",
                                                              outcome.stages.front().epsilon, outcome.stages.size())
                                                : "");
  return text + scaled_summary(options, file, outcome);
}

}  // namespace

void run_transport(mpi::Context& context, const TransportJobOptions& options) {
  const ScaledJob job = prepared(context, options, [&options](Precision precision) -> Index {
    if (options.domain == sinkhorn::Domain::logarithmic) return 0;
    return precision == Precision::f32 ? 4 : 8;
  });
  const auto work = [&](Meter& meter) {
    switch (job.precision) {
      case Precision::f32: return transported<float, float>(context, options, job.file, job.precision, meter);
      case Precision::mixed: return transported<float, double>(context, options, job.file, job.precision, meter);
      default: return transported<double, double>(context, options, job.file, job.precision, meter);
    }
  };
  carry_out(
      context, options, work,
      [&](const TransportOutcome& outcome) { return json_report(context, options, job, outcome); },
      [&](const TransportOutcome& outcome) { return summary(options, job.file, outcome); });
}

}  // namespace plait::cli
