#include "cli/scaling/cost_job.hpp"

namespace plait::cli {

using sinkhorn::Domain;

CostRun::CostRun(Work& work, const TransportOptions& options) : ScalingRun(work, options), costs_(options) {
  if (has_points()) input_ = options.points[0] + " and " + options.points[1];
}

std::vector<InputFile> CostRun::inputs() const {
  auto inputs = ScalingRun::inputs();
  if (has_points()) inputs.insert(inputs.end(), {{" of X has ", costs_.points[0]}, {" of Y has ", costs_.points[1]}});
  return inputs;
}

void CostRun::describe_costs() {
  if (!has_points()) return describe_input();
  x_ = io::describe_file(context_, costs_.points[0], io::columns);
  y_ = io::describe_file(context_, costs_.points[1], io::columns);
  file_ = x_;
  file_.shape = {x_.shape.rows, y_.shape.rows};
  mpi::agreed(context_, [&] {
    if (x_.shape.columns == y_.shape.columns) return;
    throw ArgumentError(fmt::format("--points: the points of {} have {} coordinates, those of {} have {}",
                                    costs_.points[0], x_.shape.columns, costs_.points[1], y_.shape.columns));
  });
  precision_ = options_.precision == Precision::automatic ? Precision::f64 : options_.precision;
}

Index CostRun::kernel_bytes() const noexcept {
  if (costs_.method == Domain::logarithmic) return 0;
  return precision_ == Precision::f32 ? 4 : 8;
}

std::vector<NamedFile> CostRun::points_read() const {
  std::vector<NamedFile> files;
  for (const std::string& path : costs_.points) files.push_back({path, "a file of --points"});
  return files;
}

sinkhorn::TransportOptions CostRun::transports() {
  return {.epsilon = costs_.epsilon,
          .domain = costs_.method,
          .first_epsilon = costs_.first_epsilon,
          .limits = limits(),
          .rho = costs_.rho};
}

Checkpoints::Identity CostRun::identity(std::vector<std::string> before, const std::vector<std::string>& after) const {
  if (has_points()) {
    before.insert(before.end(), costs_.points.begin(), costs_.points.end());
  } else {
    before.push_back(input_);
  }
  before.insert(before.end(), after.begin(), after.end());
  return {std::move(before),
          {{"precision", name(precision_)},
           {"epsilon", costs_.epsilon},
           {"first epsilon", costs_.first_epsilon},
           {"method", name(costs_.method)},
           {"metric", name(costs_.metric)},
           {"p", costs_.p.value_or(2)}}};
}

std::string CostRun::costs_text() const {
  const std::string costs = has_points() ? fmt::format("C = {} of {} and {} points", name(costs_.metric),
                                                       file_.shape.rows, file_.shape.columns)
                                         : fmt::format("C is {}", layout::to_string(file_.shape));
  return fmt::format("{}, {}, epsilon {}", costs, name(precision_), costs_.epsilon);
}

nlohmann::ordered_json CostRun::input_facts() const {
  if (!has_points()) return ScalingRun::input_facts();
  nlohmann::ordered_json facts{{"points", costs_.points}, {"metric", name(costs_.metric)}};
  if (costs_.p) facts["p"] = *costs_.p;
  return facts;
}

std::string CostRun::read_text() const {
  if (!has_points()) return ScalingRun::read_text();
  return fmt::format("{}: {} of {}, {}: {} of {}", costs_.points[0], layout::to_string(x_.shape), io::name(x_.dtype),
                     costs_.points[1], layout::to_string(y_.shape), io::name(y_.dtype));
}

void CostRun::report_stages(Report& report, PageFacts& page) const {
  const auto& stages = problems_[0].stages;
  report.fact("stages", json_of(stages));
  page.stages = stages;
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
