#include "cli/scaling/cost_job.hpp"

namespace plait::cli {

using sinkhorn::Domain;

std::vector<ErrorWord> CostJob::error_words() const {
  auto words = ScalingJob::error_words();
  words.push_back({"rho of the ", "--unbalanced"});
  if (has_points()) words.insert(words.end(), {{" of X has ", options_.points[0]}, {" of Y has ", options_.points[1]}});
  return words;
}

void CostJob::describe_costs() {
  if (!has_points()) return describe_input();
  x_ = io::describe_file(context(), options_.points[0], io::columns);
  y_ = io::describe_file(context(), options_.points[1], io::columns);
  file_ = x_;
  file_.shape = {x_.shape.rows, y_.shape.rows};
  mpi::agreed(context(), [&] {
    y_ = io::with_columns_of(options_.points[0], x_, options_.points[1], y_);
    if (x_.shape.columns == y_.shape.columns) return;
    throw ArgumentError(fmt::format("--points: the points of {} have {} coordinates, those of {} have {}",
                                    options_.points[0], x_.shape.columns, options_.points[1], y_.shape.columns));
  });
  precision_ = options_.precision == Precision::automatic ? Precision::f64 : options_.precision;
}

Index CostJob::kernel_bytes() const noexcept {
  if (options_.method == Domain::logarithmic) return 0;
  return precision_ == Precision::f32 ? 4 : 8;
}

sinkhorn::TransportOptions CostJob::transports() {
  return {.epsilon = options_.epsilon,
          .domain = options_.method,
          .first_epsilon = options_.first_epsilon,
          .limits = limits(),
          .rho = options_.rho};
}

Checkpoints::Identity CostJob::identity(std::vector<std::string> before, const std::vector<std::string>& after) const {
  if (has_points()) {
    before.insert(before.end(), options_.points.begin(), options_.points.end());
  } else {
    before.push_back(input());
  }
  before.insert(before.end(), after.begin(), after.end());
  return {std::move(before),
          {{"precision", name(precision_)},
           {"epsilon", options_.epsilon},
           {"first epsilon", options_.first_epsilon},
           {"method", name(options_.method)},
           {"metric", name(options_.metric)},
           {"p", options_.p.value_or(2)}}};
}

std::string CostJob::costs_text() const {
  const std::string costs = has_points() ? fmt::format("C = {} of {} and {} points", name(options_.metric),
                                                       file_.shape.rows, file_.shape.columns)
                                         : fmt::format("C is {}", layout::to_string(file_.shape));
  return fmt::format("{}, {}, epsilon {}", costs, name(precision_), options_.epsilon);
}

nlohmann::ordered_json CostJob::input_facts() const {
  if (!has_points()) return ScalingJob::input_facts();
  nlohmann::ordered_json facts{{"points", options_.points}, {"metric", name(options_.metric)}};
  if (options_.p) facts["p"] = *options_.p;
  return facts;
}

std::string CostJob::read_text() const {
  if (!has_points()) return ScalingJob::read_text();
  return fmt::format("{}: {} of {}, {}: {} of {}", options_.points[0], layout::to_string(x_.shape), io::name(x_.dtype),
                     options_.points[1], layout::to_string(y_.shape), io::name(y_.dtype));
}

void CostJob::report_stages(Report& report) const {
  const auto& stages = page_.stages;
  report.fact("stages", json_of(stages));
  report.line("method", fmt::format("{}{}", name(stages.back().domain),
                                    stages.size() > 1 ? fmt::format("; {} stages, epsilon from {:.3g} down",
                                                                    stages.size(), stages.front().epsilon)
                                                      : ""));
}

Index iterations_of(const std::vector<sinkhorn::TransportStage>& stages) {
  Index iterations = 0;
  for (const auto& stage : stages) iterations += stage.iterations;
  return iterations;
}

}  // namespace plait::cli
