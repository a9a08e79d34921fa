#include "cli/sinkhorn_options.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/option_value.hpp"

namespace plait::cli {

namespace {

/// A dense plan is a .npy file, that of a sparse matrix may be a Matrix Market file.
CLI::Option* add_plan_path(CLI::App& command, const std::string& name, std::string& path,
                           const std::string& placeholder, const std::string& help) {
  const auto read = [&path](const std::string& text) {
    if (io::is_hdf5_name(text)) {
      throw ArgumentError(
          fmt::format("{} would be a file of another kind, expected the name of a .npy or .mtx file", text));
    }
    path = parse_path(text);
  };
  return add_value(command, name, read, placeholder, help);
}

constexpr ScaledWords words{
    "factors",
    "--row-factors",
    "--column-factors",
    "f64, f32, mixed or bf16",
    "K: a NumPy .npy, Matrix Market or HDF5 file of numbers >= 0",
    "What the rows are to sum up to: a .npy file of a vector;\n1 each without --rows and --cols, else alike",
    add_plan_path,
    "Where the plan goes, as a .npy file, or of a sparse K\nas a Matrix Market file .mtx; may be IN itself"};

ScalingForm parse_form(std::string_view text) {
  for (const ScalingForm form : {ScalingForm::scaling, ScalingForm::in_place}) {
    if (text == name(form)) return form;
  }
  throw ArgumentError(fmt::format("'{}' is no form; expected scaling or in-place", text));
}

constexpr const char* footer =
    R"(P = diag(u) K diag(v), with the factors u of the rows and v of the columns that give P its sums. Where no
factors do, it is said why, and nothing is written. A Matrix Market file of the coordinate format stays sparse.

A job that is stopped, however, goes on from its last checkpoint if the same command is given again with --resume, and
gives the same bits on as many ranks.

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
    expect_checkpoint(options);
    if (options.form == ScalingForm::in_place && !options.checkpoint.empty()) {
      throw UsageError("--checkpoint is given, but --form in-place changes all of K, expected scaling");
    }
    if (options.form == ScalingForm::in_place && !options.start.empty()) {
      throw UsageError("--start is given, but --form in-place begins with the matrix as it is");
    }
    if (options.form == ScalingForm::in_place && options.over_relaxation != 1) {
      throw UsageError("--over-relaxation is given, but --form in-place has none");
    }
  });
}

}  // namespace plait::cli
