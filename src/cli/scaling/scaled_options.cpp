#include "cli/scaling/scaled_options.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/job/traced_job.hpp"
#include "cli/options/machine_option.hpp"
#include "cli/options/number_argument.hpp"
#include "cli/options/option_value.hpp"

namespace plait::cli {

namespace {

double parse_tolerance(std::string_view text) {
  const double tolerance = parse_number(text);
  if (tolerance >= 0) return tolerance;
  throw ArgumentError(fmt::format("{} is negative; expected a number >= 0", text));
}

double parse_over_relaxation(std::string_view text) {
  const double factor = parse_number(text);
  if (factor > 0 && factor < 2) return factor;
  throw ArgumentError(fmt::format("{} is not between 0 and 2; expected such a number, 1 for none", text));
}

}  // namespace

std::string_view name(Precision precision) {
  switch (precision) {
    case Precision::automatic: return "auto";
    case Precision::f64: return "f64";
    case Precision::f32: return "f32";
    case Precision::mixed: return "mixed";
    case Precision::bf16: return "bf16";
  }
  return "";
}

double tolerance_of(const ScaledOptions& options, Precision precision) {
  const bool is_single = precision == Precision::f32 || precision == Precision::bf16;
  return options.tolerance.value_or(is_single ? 1e-6 : 1e-9);
}

void add_scaled_options(CLI::App& command, ScaledOptions& options, const ScaledWords& words) {
  add_path(command, "IN", options.input, "FILE", words.input_help)->required();
  options.row_option = words.row_option;
  options.column_option = words.column_option;
  words.add_output(command, "-o,--output", options.output, "FILE", words.output_help);
  add_npy_path(command, words.row_option, options.of_rows, "FILE",
               fmt::format("The {} of the rows, M x 1, as a .npy file", words.vectors));
  add_npy_path(command, words.column_option, options.of_columns, "FILE",
               fmt::format("The {} of the columns, 1 x N, as a .npy file", words.vectors));
  add_path(command, "--rows", options.rows, "FILE.npy", words.marginals_help);
  add_path(command, "--columns", options.columns, "FILE.npy", "The same of the columns");
  add_precision_option(command, options, words.precisions);
  add_limit_options(command, options, words.most_iterations);
  add_path(command, "--start", options.start, "FILE.npy",
           fmt::format("Begin with these {} of the columns, of a run before", words.vectors))
      ->group(group::iteration);
  add_value(
      command, "--over-relaxation", options.over_relaxation, parse_over_relaxation, "NUMBER",
      "Factor of the logarithmic step, below 2: may be quicker where convergence is slow, and may not converge; 1 by "
      "default")
      ->group(group::iteration);
  add_checkpoint_options(command, options, usual_checkpoint_every);
  add_run_options(command, options);
}

void add_precision_option(CLI::App& command, ScaledOptions& options, const Precisions& precisions) {
  std::vector<Choice<Precision>> choices{{name(Precision::automatic), Precision::automatic}};
  for (const Precision precision : precisions) choices.push_back({name(precision), precision});
  add_choice(
      command, "--precision", options.precision, choices, "PRECISION",
      "Numbers to store and to compute with: {}. mixed stores f32 and computes in f64; auto takes it for f32 files, "
      "else f64");
}

void add_limit_options(CLI::App& command, ScaledOptions& options, const char* most_iterations) {
  add_value(command, "--tolerance", options.tolerance, parse_tolerance, "NUMBER",
            "Largest error of the sums, relative to the sum of all; 1e-9 by default, 1e-6 where numbers are stored in "
            "fewer bits than f64")
      ->group(group::iteration);
  add_value(command, "--max-iterations", options.most_iterations, parse_positive_count, "COUNT",
            fmt::format("{}; 10000 by default", most_iterations))
      ->group(group::iteration);
}

void add_run_options(CLI::App& command, ScaledOptions& options) {
  add_machine_option(command, options.machine);
  add_page_option(command, options.page, "the convergence, the sums, a picture of the result, and where the time went");
  add_trace_option(command, options.trace);
  add_report_options(command, options.report);
}

void expect_different_outputs(const ScaledOptions& options, const ScaledWords& words) {
  const auto are_one = [](const std::string& a, const std::string& b) { return !a.empty() && a == b; };
  if (are_one(options.output, options.of_rows) || are_one(options.output, options.of_columns) ||
      are_one(options.of_rows, options.of_columns)) {
    throw UsageError(
        fmt::format("-o, {} and {} name one file, expected different ones", words.row_option, words.column_option));
  }
}

}  // namespace plait::cli
