#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "plait/base/index.hpp"

#include "cli/options/report_options.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace plait::cli {

/// What a matrix is stored in and computed with.
enum class Precision : unsigned char { automatic, f64, f32, mixed, bf16 };

/// "f64", "f32", "mixed", "bf16".
[[nodiscard]] std::string_view name(Precision precision);

/// How many iterations lie between checkpoints.
inline constexpr Index usual_checkpoint_every = 100;

/// What the commands of scaling and of transport have in common.
struct ScaledOptions {
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
  std::string page;                       // of --report; empty: none
  std::string trace;                      // empty: none
  std::string checkpoint;                 // empty: none
  std::optional<Index> checkpoint_every;  // iterations; 100 where none is given
  bool resume = false;
};

/// Adds an option for the file that a plan is written to.
using AddOutput = CLI::Option* (*)(CLI::App&, const std::string&, std::string&, const std::string&, const std::string&);

/// How many iterations there may be: in the words of a help text.
inline constexpr const char* most_in_all = "The most there may be";
inline constexpr const char* most_with_each_epsilon =
    "The most there may be with each epsilon, of which large ones\nmay come first";

/// What the options call the vectors of a plan, and which precisions there are.
struct ScaledWords {
  const char* vectors;     // "factors"
  const char* row_option;  // "--row-factors"
  const char* column_option;
  const char* precisions;  // "f64, f32, mixed or bf16"
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

/// Some of them, for commands that have no others: what a matrix is stored in and computed with, of which `precisions`
/// are known; when iterations end; checkpoints; what is told, and
/// the machine.
void add_precision_option(CLI::App& command, ScaledOptions& options, const char* precisions);
void add_limit_options(CLI::App& command, ScaledOptions& options, const char* most_iterations);
void add_checkpoint_options(CLI::App& command, ScaledOptions& options);
void add_report_and_machine_options(CLI::App& command, ScaledOptions& options);

/// \throws UsageError  --resume or --checkpoint-every without --checkpoint
void expect_checkpoint(const ScaledOptions& options);

/// \throws UsageError  nothing is to be written, or several results into one file
void expect_output(const ScaledOptions& options, const ScaledWords& words);

/// \throws UsageError  two outputs have one name
void expect_different_outputs(const ScaledOptions& options, const ScaledWords& words);

}  // namespace plait::cli
