#include "cli/scaling/scaled_options.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/job/traced_job.hpp"
#include "cli/options/machine_option.hpp"
#include "cli/options/number_argument.hpp"
#include "cli/options/option_value.hpp"

namespace plait::cli {

namespace {

Precision parse_precision(std::string_view text, std::string_view known) {
  for (const Precision precision : {Precision::f64, Precision::f32, Precision::mixed, Precision::bf16}) {
    if (text == name(precision) && known.find(text) != std::string_view::npos) return precision;
  }
  throw ArgumentError(fmt::format("'{}' is no precision; expected {}", text, known));
}

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
    case Precision::automatic: return "automatic";
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
  add_path(command, "--rows", options.rows, "FILE.npy", words.marginals_help);
  add_path(command, "--cols", options.columns, "FILE.npy", "What its columns are to sum up to; likewise");
  add_npy_path(command, words.row_option, options.of_rows, "FILE",
               fmt::format("Write the {} of the rows, as a column (M x 1)", words.vectors));
  add_npy_path(command, words.column_option, options.of_columns, "FILE",
               "Write those of the columns, as a row (1 x N)");
  add_path(command, "--start", options.start, "FILE.npy",
           fmt::format("Begin with these {} of the columns, of a run before", words.vectors));
  add_precision_option(command, options, words.precisions);
  add_limit_options(command, options, words.most_iterations);
  add_value(
      command, "--over-relaxation",
      [&options](const std::string& text) { options.over_relaxation = parse_over_relaxation(text); }, "NUMBER",
      fmt::format(
          "Go so many times as far, below 2: may be quicker where it\nis slow, and may not converge. By default 1"));
  add_checkpoint_options(command, options);
  add_report_and_machine_options(command, options);
}

void add_precision_option(CLI::App& command, ScaledOptions& options, const char* precisions) {
  add_value(
      command, "--precision",
      [&options, known = std::string_view(precisions)](const std::string& text) {
        options.precision = parse_precision(text, known);
      },
      "TYPE",
      fmt::format("{}; mixed is f32 computed with as f64, and what\nf32 files are taken as. By default f64 otherwise",
                  precisions));
}

void add_limit_options(CLI::App& command, ScaledOptions& options, const char* most_iterations) {
  add_value(
      command, "--tolerance", [&options](const std::string& text) { options.tolerance = parse_tolerance(text); },
      "NUMBER",
      "What the sums may be off by, relative to that of all:\n1e-9 by default, 1e-6 where numbers are floats");
  add_value(
      command, "--iterations", [&options](const std::string& text) { options.most_iterations = parse_count(text); },
      "COUNT", fmt::format("{}; 10000 by default", most_iterations));
}

void add_checkpoint_options(CLI::App& command, ScaledOptions& options) {
  add_path(command, "--checkpoint", options.checkpoint, "FILE",
           "Write now and then how far the job is, there and into\nFILE.a.npy and FILE.b.npy");
  add_value(
      command, "--checkpoint-every",
      [&options](const std::string& text) { options.checkpoint_every = parse_count(text); }, "COUNT",
      "How often: after so many iterations; 100 by default");
  command.add_flag("--resume", options.resume, "Go on from the checkpoint, if there is one");
}

void add_report_and_machine_options(CLI::App& command, ScaledOptions& options) {
  add_typed_path(
      command, "--report", options.page, "FILE.html",
      "Write a page: how it converged, which sums were wanted and\nreached, the result as a picture, where the "
      "time went",
      "an HTML file", ".html");
  add_machine_option(command, options.machine);
  add_report_options(command, options.report);
  add_trace_option(command, options.trace);
}

void expect_checkpoint(const ScaledOptions& options) {
  if (options.resume && options.checkpoint.empty()) {
    throw UsageError("--resume is given, but --checkpoint is missing: the file to go on from");
  }
  if (options.checkpoint_every && options.checkpoint.empty()) {
    throw UsageError("--checkpoint-every is given, but --checkpoint is missing: the file to write");
  }
}

void expect_output(const ScaledOptions& options, const ScaledWords& words) {
  if (options.output.empty() && options.of_rows.empty() && options.of_columns.empty()) {
    throw UsageError(
        fmt::format("-o, {} and {} are missing: where does the result go?", words.row_option, words.column_option));
  }
  expect_different_outputs(options, words);
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
