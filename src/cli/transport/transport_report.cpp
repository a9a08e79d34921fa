#include "cli/transport/transport_report.hpp"

#include <cmath>

#include <fmt/format.h>

#include "cli/job/json_values.hpp"
#include "cli/transport/point_files.hpp"

namespace plait::cli {

using nlohmann::ordered_json;

nlohmann::json checkpoint_settings(const TransportJobOptions& options, Precision precision) {
  return {{"precision", name(precision)},
          {"epsilon", options.epsilon},
          {"first epsilon", options.first_epsilon},
          {"method", name(options.method)},
          {"metric", name(options.metric)},
          {"p", options.p.value_or(2)},
          {"rho of the rows", number_or_null(options.rho.rows)},
          {"rho of the columns", number_or_null(options.rho.columns)},
          {"over_relaxation", options.over_relaxation}};
}

ordered_json transport_json(const mpi::Context& context, const TransportJobOptions& options, const ScaledJob& job,
                            const TransportOutcome& outcome) {
  auto report = scaled_json(context, "transport", options, job.file, job.memory, outcome);
  tell_points(report, options);
  report["epsilon"] = options.epsilon;
  report["row_potentials"] = name_or_null(options.of_rows);
  report["column_potentials"] = name_or_null(options.of_columns);
  report["cost"] = outcome.cost;
  report["dual"] = outcome.dual;
  report["duality_gap"] = outcome.gap;
  report["rho"] = {{"rows", number_or_null(options.rho.rows)}, {"columns", number_or_null(options.rho.columns)}};
  report["marginal_kl"] = {{"rows", outcome.row_divergence}, {"columns", outcome.column_divergence}};
  report["stages"] = stages_json(outcome.stages);
  return report;
}

PageFacts transport_facts(const TransportJobOptions& options, const TransportOutcome& outcome) {
  PageFacts page{
      .rows = {}, .stages = outcome.stages, .headline = {fmt::format("{:.6g}", outcome.cost), "cost of the transport"}};
  const auto aim = [](double rho) { return std::isfinite(rho) ? "optimal" : "wanted"; };
  page.aims = {aim(options.rho.rows), aim(options.rho.columns)};
  if (outcome.points) page.figures.push_back(drawn(*outcome.points, options.points));
  const auto add = [&page](const char* what, double value) { page.rows.push_back({what, fmt::format("{}", value)}); };
  add("epsilon", options.epsilon);
  add("cost", outcome.cost);
  add("what is minimised: cost with the entropy", outcome.dual + outcome.gap);
  add("dual value", outcome.dual);
  add("duality gap", outcome.gap);
  if (!options.rho.is_balanced()) {
    add("rho of the rows", options.rho.rows);
    add("KL(sums of rows | masses)", outcome.row_divergence);
    add("rho of the columns", options.rho.columns);
    add("KL(sums of columns | masses)", outcome.column_divergence);
  }
  return page;
}

std::string transport_summary(const TransportJobOptions& options, const ScaledJob& job,
                              const TransportOutcome& outcome) {
  std::string text = fmt::format("P = exp((f + g - C) / epsilon)   {}, {}, epsilon {}\n", costs_text(options, job),
                                 name(outcome.precision), options.epsilon);
  text += fmt::format("  {:<10}{:.10g}; with entropy {:.10g}, duality gap {:.2g}\n", "cost", outcome.cost,
                      outcome.dual + outcome.gap, outcome.gap);
  if (!options.rho.is_balanced()) {
    text += fmt::format("  {:<10}{:.6g} moved; rows: rho {}, KL {:.6g}; columns: rho {}, KL {:.6g}\n", "mass",
                        outcome.check.mass, options.rho.rows, outcome.row_divergence, options.rho.columns,
                        outcome.column_divergence);
  }
  text += stages_summary(outcome.stages);
  if (!options.map.empty()) text += fmt::format("  {:<10}{}\n", "map", options.map);
  return text + scaled_summary(options, job.file, outcome);
}

}  // namespace plait::cli
