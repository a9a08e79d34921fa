#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plait/base/index.hpp"

#include "cli/options/checkpoint_options.hpp"
#include "cli/options/report_options.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace plait::cli {

/// What a matrix is stored in and computed with.
enum class Precision : unsigned char { automatic, f64, f32, mixed, bf16 };

/// "auto", "f64", "f32", "mixed", "bf16".
[[nodiscard]] std::string_view name(Precision precision);

/// How many iterations lie between checkpoints.
inline constexpr Index usual_checkpoint_every = 100;

/// The precisions of a command: "f64", "f32", "mixed", "bf16".
using Precisions = std::vector<Precision>;

/// What the commands of scaling and of transport have in common.
struct ScaledOptions : CheckpointOptions {
  std::string command;  // the whole line, as a shell takes it
  std::string input;
  std::string output;                      // of the plan; may be empty
  std::string rows;                        // files of marginals; may be empty
  std::string columns;                     //
  std::string of_rows;                     // where factors or potentials go; may be empty
  std::string of_columns;                  //
  std::string start;                       // those of the columns to begin with; may be empty
  const char* output_option = "--output";  // what these three are given by
  const char* row_option = "--output";     //
  const char* column_option = "";          //
  Precision precision = Precision::automatic;
  std::optional<double> tolerance;
  Index most_iterations = 10'000;
  double over_relaxation = 1;  // none
  std::string machine;         // empty: as PLAIT_MACHINE says
  ReportOptions report;
  std::string page;   // of --report; empty: none
  std::string trace;  // empty: none
};

/// Adds an option for the file that a plan is written to.
using AddOutput = CLI::Option* (*)(CLI::App&, const std::string&, std::string&, const std::string&, const std::string&);

/// What --max-iterations limits.
inline constexpr const char* most_in_all = "The most there may be";
inline constexpr const char* most_with_last_epsilon = "The most there may be with the last epsilon";

/// What the options call the vectors of a plan, and which precisions there are.
struct ScaledWords {
  const char* vectors;     // "factors"
  const char* row_option;  // "--row-factors"
  const char* column_option;
  Precisions precisions;
  const char* input_help;
  const char* marginals_help;
  AddOutput add_output;
  const char* output_help;
  const char* most_iterations;
};

/// The tolerance that was given, or what suits the precision.
[[nodiscard]] double tolerance_of(const ScaledOptions& options, Precision precision);

/// Adds them to a command. To be given before the command's own.
void add_scaled_options(CLI::App& command, ScaledOptions& options, const ScaledWords& words);

/// Some of them, for commands that have no others: precision, limits of the iteration, page, trace, machine.
void add_precision_option(CLI::App& command, ScaledOptions& options, const Precisions& precisions);
void add_limit_options(CLI::App& command, ScaledOptions& options, const char* most_iterations);
void add_run_options(CLI::App& command, ScaledOptions& options);

/// \throws UsageError  two outputs have one name
void expect_different_outputs(const ScaledOptions& options, const ScaledWords& words);

}  // namespace plait::cli
