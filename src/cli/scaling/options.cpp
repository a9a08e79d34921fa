#include "cli/scaling/options.hpp"

namespace plait::cli {

using sinkhorn::Acceleration;
using sinkhorn::Domain;
using sinkhorn::Metric;

namespace {

double parse_power(std::string_view text) {
  const double p = parse_number(text);
  if (p >= 1) return p;
  throw ArgumentError(fmt::format("{} makes no distance; expected a number >= 1", text));
}

/// An option with several files, one of those of which a command wants one.
void add_files(Options& command, const std::string& name, std::vector<InputFile>& files, const std::string& text,
               int count, const std::string& help) {
  CLI::App& app = command;
  app.add_option_function<std::vector<std::string>>(
         name,
         [&files, name](const std::vector<std::string>& given) {
           try {
             for (const std::string& path : given) files.push_back(parse_input(path));
           } catch (const Error& error) {
             throw UsageError("{}: {}", name, error.what());
           }
         },
         help)
      ->expected(count)
      ->option_text(text)
      ->group(group::one_of);
}

}  // namespace

std::string_view name(Precision precision) {
  constexpr std::array<std::string_view, 5> names{"auto", "f64", "f32", "mixed", "bf16"};
  return names[static_cast<std::size_t>(precision)];
}

std::string_view name(Domain domain) {
  switch (domain) {
    case Domain::automatic: return "auto";
    case Domain::factors: return "factors";
    case Domain::logarithmic: return "logarithms";
  }
  return "";
}

std::string_view name(Acceleration acceleration) { return acceleration == Acceleration::automatic ? "auto" : "none"; }

Index element_bytes(Precision precision) {
  if (precision == Precision::bf16) return 2;
  return precision == Precision::f32 || precision == Precision::mixed ? 4 : 8;
}

std::string ScalingOptions::cost_name() const {
  return fmt::format("{}{}{}", name(metric), p ? fmt::format(" {}", *p) : "",
                     power == 1 ? "" : fmt::format(" to the power {}", power));
}

double ScalingOptions::tolerance_of(Precision stored) const {
  return tolerance.value_or(stored == Precision::f32 || stored == Precision::bf16 ? 1e-6 : 1e-9);
}

void add_vectors(Options& command, ScalingOptions& options, const std::string& vector) {
  command.writes(fmt::format("--row-{}s", vector), options.of_rows, kind::npy,
                 fmt::format("The {}s of the rows, M x 1, as a .npy file", vector));
  command.writes(fmt::format("--column-{}s", vector), options.of_columns, kind::npy,
                 fmt::format("The {}s of the columns, 1 x N, as a .npy file", vector));
}

void add_marginals(Options& command, ScalingOptions& options, const std::string& of_rows) {
  command.reads("--rows", options.rows, of_rows, "FILE.npy");
  command.reads("--columns", options.columns, "The same of the columns", "FILE.npy");
}

void add_start(Options& command, ScalingOptions& options, const std::string& vectors) {
  command
      .reads("--start", options.start, fmt::format("Begin with these {} of the columns, of a run before", vectors),
             "FILE.npy")
      ->group(group::iteration);
}

void add_precision(Options& command, ScalingOptions& options, const std::vector<Precision>& precisions) {
  std::vector<Choice<Precision>> choices = named({Precision::automatic});
  for (const Precision precision : precisions) choices.push_back({name(precision), precision});
  add_choice(
      command, "--precision", options.precision, choices, "PRECISION",
      "Numbers to store and to compute with: {}. mixed stores f32 and computes in f64; auto takes it for f32 files, "
      "else f64");
}

void add_limits(Options& command, ScalingOptions& options, const std::string& most_iterations) {
  add_value(command, "--tolerance", options.tolerance, parse_not_negative, "NUMBER",
            "Largest error of the sums, relative to the sum of all; 1e-9 by default, 1e-6 where they are computed in "
            "f32 or stored in bf16")
      ->group(group::iteration);
  add_value(command, "--max-iterations", options.how.limits.most_iterations, parse_positive_count, "COUNT",
            fmt::format("{}; 10000 by default", most_iterations))
      ->group(group::iteration);
  add_choice(command, "--acceleration", options.how.limits.acceleration,
             {{name(Acceleration::automatic), Acceleration::automatic}, {name(Acceleration::none), Acceleration::none}},
             "WORD", "Steps that the last iterations foretell, or plain iterations: {}")
      ->group(group::iteration);
}

HostOptions host_options() {
  return {.checkpoint_every = 100,
          .page = "the convergence, the sums, a picture of the result, and where the time went",
          .trace = true};
}

void add_epsilon(Options& command, ScalingOptions& options) {
  add_value(command, "--epsilon", options.how.epsilon, parse_positive_number, "NUMBER",
            "Weight of the entropy, in the units of the costs")
      ->required();
  add_value(command, "--first-epsilon", options.how.first_epsilon, parse_positive_number, "NUMBER",
            "Epsilon of the first stage, divided by 4 from stage to stage; by default chosen by the costs")
      ->group(group::iteration);
  add_choice(command, "--method", options.how.domain,
             {{"auto", Domain::automatic}, {"factors", Domain::factors}, {"logarithms", Domain::logarithmic}}, "METHOD",
             "Iterate on factors or on their logarithms: {}. factors are faster, but need a large epsilon");
}

void add_images(Options& command, ScalingOptions& options, int count, const std::string& help) {
  add_files(command, "--images", options.images, count > 0 ? "A B" : "A ...", count, help);
  add_value(command, "--spacing", options.spacing, parse_spacing, "NUMBER[,NUMBER,...]",
            "With --images: distance of elements, on all axes or on each; 1 by default");
}

void add_points(Options& command, ScalingOptions& options) {
  CLI::App& app = command;
  add_files(command, "--points", options.points, "X Y", 2,
            fmt::format("Instead of IN: M and N points, a point a row, each in {}; the costs between them are made, "
                        "never stored",
                        matrix_file));
  app.get_option("IN")->required(false)->group(group::one_of);
  add_choice(command, "--metric", options.metric,
             named({Metric::squared_euclidean, Metric::euclidean, Metric::cityblock, Metric::chebyshev,
                    Metric::minkowski, Metric::cosine}),
             "METRIC", "Distance of two points, which is the cost: {}");
  add_value(command, "--p", options.p, parse_power, "NUMBER", "Power of minkowski: (sum |x - y|^p)^(1/p)");
  add_value(command, "--power", options.power, parse_positive_number, "NUMBER",
            "Costs are distances to this power; 1 by default");
}

}  // namespace plait::cli
