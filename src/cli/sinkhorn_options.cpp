#include "cli/sinkhorn_options.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/option_value.hpp"

namespace plait::cli {

namespace {

constexpr ScaledWords words{
    "factors",
    "--row-factors",
    "--column-factors",
    "f64, f32, mixed or bf16",
    "K: a NumPy .npy, Matrix Market or HDF5 file of numbers >= 0",
    "What the rows are to sum up to: a .npy file of a vector;\n1 each without --rows and --cols, else alike"};

ScalingForm parse_form(std::string_view text) {
  for (const ScalingForm form : {ScalingForm::scaling, ScalingForm::in_place}) {
    if (text == name(form)) return form;
  }
  throw ArgumentError(fmt::format("'{}' is no form; expected scaling or in-place", text));
}

constexpr const char* footer =
    R"(P = diag(u) K diag(v), with the factors u of the rows and v of the columns that give P its sums. Where no
factors do, it is said why, and nothing is written.

Example: make a matrix doubly stochastic
  mpirun -n 2 plait sinkhorn K.npy -o P.npy
Example: to given sums, keeping the factors only
  mpirun -n 2 plait sinkhorn K.npy --rows r.npy --cols c.npy --row-factors u.npy --column-factors v.npy)";

}  // namespace

void add_sinkhorn(CLI::App& program, SinkhornOptions& options) {
  CLI::App& command = *program.add_subcommand(
      "sinkhorn", "Scale a matrix so that rows and columns have given sums:  P = diag(u) K diag(v)");
  add_scaled_options(command, options, words);
  add_value(
      command, "--form", [&options](const std::string& text) { options.form = parse_form(text); }, "FORM",
      "scaling (the default): K is read once an iteration and\nnot written; in-place: K is rescaled each time");
  command.footer(footer);
  command.final_callback([&options] {
    expect_output(options, words);
    if (options.form == ScalingForm::in_place && !options.start.empty()) {
      throw UsageError("--start is given, but --form in-place begins with the matrix as it is");
    }
    if (options.form == ScalingForm::in_place && options.over_relaxation != 1) {
      throw UsageError("--over-relaxation is given, but --form in-place has none");
    }
  });
}

}  // namespace plait::cli
