#include "cli/transport.hpp"

#include <fmt/format.h>

#include "plait/layout/text.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/sinkhorn/transport.hpp"

#include "cli/json_line.hpp"
#include "cli/print.hpp"
#include "cli/scaled_job.hpp"
#include "cli/traced_job.hpp"

namespace plait::cli {

namespace {

using nlohmann::ordered_json;

/// What is told beside what every job of the kind tells.
struct TransportOutcome : ScaledOutcome {
  std::vector<sinkhorn::TransportStage> stages;
  double cost = 0;
  double dual = 0;
  double gap = 0;
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
  sinkhorn::TransportOptions how{options.epsilon, options.domain, options.first_epsilon,
                                 limits_of(options, precision, meter)};
  const auto found = sinkhorn::transport<T, A>(context, rows, given.marginals(), how, start);
  result.iterate_seconds = iterating.seconds();
  result.outcome = found.outcome;
  result.stages = found.stages;
  for (const auto& stage : found.stages) result.iterations += stage.iterations;
  result.cost = found.cost;
  result.dual = found.dual;
  result.gap = found.gap();

  const JointStopwatch writing(context);
  sinkhorn::transport_plan_in_place<T, A>(rows, options.epsilon, found.f, found.g);
  const auto checked = sinkhorn::checked_marginals(context, rows.rows(), rows.columns(), given.marginals());
  result.check = sinkhorn::marginal_errors<T>(context, rows, checked);
  expect_plan(context, result.outcome, result.check);
  write_plan(context, options, matrix, found.f, found.g, meter);
  result.write_seconds = writing.seconds();
  result.seconds = all.seconds();
  return result;
}

std::string json_report(const mpi::Context& context, const TransportJobOptions& options, const io::MatrixFile& file,
                        const MemoryEstimate& memory, const TransportOutcome& outcome) {
  auto report = scaled_json(context, "transport", options, file, memory, outcome);
  report["epsilon"] = options.epsilon;
  report["row_potentials"] = options.of_rows.empty() ? ordered_json() : ordered_json(options.of_rows);
  report["column_potentials"] = options.of_columns.empty() ? ordered_json() : ordered_json(options.of_columns);
  report["cost"] = outcome.cost;
  report["dual"] = outcome.dual;
  report["gap"] = outcome.gap;
  report["stages"] = ordered_json::array();
  for (const auto& stage : outcome.stages) {
    report["stages"].push_back(
        {{"epsilon", stage.epsilon}, {"iterations", stage.iterations}, {"domain", name(stage.domain)}});
  }
  return json_line(report);
}

std::string summary(const TransportJobOptions& options, const io::MatrixFile& file, const TransportOutcome& outcome) {
  std::string text = fmt::format("P = exp((f + g - C) / epsilon)   C is {}, {}, epsilon {}\n",
                                 layout::to_string(file.shape), name(outcome.precision), options.epsilon);
  text += fmt::format("  {:<10}{:.10g}; with the entropy {:.10g}, a gap of {:.2g} to the dual\n", "cost", outcome.cost,
                      outcome.dual + outcome.gap, outcome.gap);
  text += fmt::format("  {:<10}{}{}\n", "domain", name(outcome.stages.back().domain),
                      outcome.stages.size() > 1 ? fmt::format("; epsilon from {:.3g} down in {} stages",
                                                              outcome.stages.front().epsilon, outcome.stages.size())
                                                : "");
  return text + scaled_summary(options, file, outcome);
}

}  // namespace

void run_transport(mpi::Context& context, const TransportJobOptions& options) {
  const io::MatrixFile file = io::describe_matrix_file(context, options.input);
  expect_writable_outputs(context, options);
  const Precision precision = chosen_precision(options.precision, file.dtype);
  const Index element_bytes = precision == Precision::f64 ? 8 : 4;
  const Index number_bytes = precision == Precision::f32 ? 4 : 8;
  const Index beside = options.domain == sinkhorn::Domain::logarithmic ? 0 : number_bytes;
  const MemoryEstimate memory = estimate_memory(context, memory_of_scaling(context, file, element_bytes, beside));
  if (context.rank() == 0 && !memory.warning.empty()) print_warning(memory.warning);

  Meter meter(context, options.report.meter());
  TracedJob traced(context, options.trace);
  TransportOutcome outcome;
  switch (precision) {
    case Precision::f32: outcome = transported<float, float>(context, options, file, precision, meter); break;
    case Precision::mixed: outcome = transported<float, double>(context, options, file, precision, meter); break;
    default: outcome = transported<double, double>(context, options, file, precision, meter);
  }
  meter.finish();
  traced.write();
  if (context.rank() != 0) return;
  if (const auto text = warning(outcome.outcome); !text.empty()) print_warning(text);
  if (options.report.json) {
    print_result(json_report(context, options, file, memory, outcome));
  } else if (!options.report.quiet) {
    print_result(summary(options, file, outcome));
  }
}

}  // namespace plait::cli
