#include "cli/transport/point_options.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "plait/base/error.hpp"

#include "cli/options/number_argument.hpp"
#include "cli/options/option_value.hpp"

namespace plait::cli {

namespace {

double parse_power(std::string_view text) {
  const double p = parse_number(text);
  if (p >= 1) return p;
  throw ArgumentError(fmt::format("{} makes no distance; expected a number >= 1", text));
}

}  // namespace

void add_points_options(CLI::App& command, PointOptions& options) {
  command
      .add_option_function<std::vector<std::string>>(
          "--points",
          [&options](const std::vector<std::string>& paths) {
            try {
              for (const std::string& path : paths) options.points.push_back(parse_path(path));
            } catch (const Error& error) {
              throw UsageError(fmt::format("--points: {}", error.what()));
            }
          },
          "Instead of IN: files of M and N points, a point a row; the costs between them are made, never stored")
      ->expected(2)
      ->option_text("X Y")
      ->group(group::one_of);
  command.get_option("IN")->required(false)->group(group::one_of);
  using sinkhorn::Metric;
  add_choice(command, "--metric", options.metric,
             named({Metric::squared_euclidean, Metric::euclidean, Metric::cityblock, Metric::minkowski}), "METRIC",
             "Cost of a way between two points: {}");
  add_value(command, "--p", options.p, parse_power, "NUMBER", "Power of minkowski: (sum |x - y|^p)^(1/p)");
}

std::vector<InputFile> inputs_of_points(const PointOptions& options) {
  if (options.points.empty()) return {};
  return {{" of X has ", options.points[0]}, {" of Y has ", options.points[1]}};
}

void expect_points(const PointOptions& options, const ScaledOptions& scaled, const EpsilonOptions& epsilon,
                   const char* expected) {
  if (options.points.empty()) {
    if (options.metric != sinkhorn::Metric::squared_euclidean || options.p) {
      throw UsageError(fmt::format("{} is given, but --points is missing: IN has the costs",
                                   options.metric != sinkhorn::Metric::squared_euclidean ? "--metric" : "--p"));
    }
    return;
  }
  if (!scaled.input.empty()) {
    throw UsageError(fmt::format("--points is given, and so is IN ({}), expected one of them", scaled.input));
  }
  if ((options.metric == sinkhorn::Metric::minkowski) != options.p.has_value()) {
    throw UsageError("--metric minkowski and --p need each other");
  }
  if (epsilon.method == sinkhorn::Domain::factors) {
    throw UsageError("--method is factors, which are stored, expected logarithms or auto with --points");
  }
  if (scaled.precision == Precision::mixed) {
    throw UsageError(fmt::format("--precision is mixed, expected {} with --points, which are few numbers", expected));
  }
}

}  // namespace plait::cli
