#include "cli/transport/divergence_options.hpp"

#include <algorithm>
#include <iterator>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/options/number_argument.hpp"
#include "cli/options/option_value.hpp"

namespace plait::cli {

namespace {

constexpr const char* divergence_footer =
    R"(S(r, c) = OT(r, c) - OT(r, r) / 2 - OT(c, c) / 2,  OT the least  sum C P + epsilon sum P (log(P / r c) - 1)  of plans
with these masses. Unlike the cost of a plan it is 0 for equal masses at equal points. Unbalanced, RHO KL(sums | masses)
of both sides is added to what is minimised.

Example: between two clouds of points
  mpirun -n 2 plait divergence --points X.npy Y.npy --epsilon 0.01
Example: between two histograms over the same places, with costs C
  mpirun -n 2 plait divergence C.npy --epsilon 0.01 --rows a.npy --columns b.npy --row-gradient g.npy)";

void expect_among(const DivergenceOptions& options) {
  if (options.among_rows.empty() != options.among_columns.empty()) {
    throw UsageError("--among-rows and --among-columns need each other: costs among the points of either side");
  }
  if (!options.points.empty() && !options.among_rows.empty()) {
    throw UsageError("--among-rows is given, but --points makes all costs; expected one of them");
  }
  if (!options.of_rows.empty() && options.of_rows == options.of_columns) {
    throw UsageError("--row-gradient and --column-gradient name one file, expected different ones");
  }
}

}  // namespace

std::vector<InputFile> inputs_of(const DivergenceOptions& options) {
  // Without files of their own these costs are those of IN.
  const auto or_input = [&](const std::string& path) { return path.empty() ? options.input : path; };
  std::vector<InputFile> inputs{{"the costs among the rows: ", or_input(options.among_rows)},
                                {"the costs among the columns: ", or_input(options.among_columns)}};
  std::ranges::copy(inputs_of(static_cast<const TransportJobOptions&>(options)), std::back_inserter(inputs));
  return inputs;
}

void add_divergence(CLI::App& program, DivergenceOptions& options) {
  CLI::App& command = *program.add_subcommand(
      "divergence", "Compute how far masses are from each other: the debiased Sinkhorn divergence");
  add_path(command, "IN", options.input, "FILE",
           "C, the costs between the points of the rows and those of the columns, as for plait transport; without "
           "--among-rows symmetric, among the points of both");
  add_points_options(command, options);
  add_epsilon_options(command, options);
  options.row_option = "--row-gradient";
  options.column_option = "--column-gradient";
  add_npy_path(command, "--row-gradient", options.of_rows, "FILE",
               "Derivatives of S with respect to the masses of the rows, M x 1, as a .npy file");
  add_npy_path(command, "--column-gradient", options.of_columns, "FILE", "The same of the columns, 1 x N");
  add_path(command, "--among-rows", options.among_rows, "FILE", "Costs among the points of the rows: symmetric, M x M");
  add_path(command, "--among-columns", options.among_columns, "FILE", "The same of the columns, N x N");
  add_path(command, "--rows", options.rows, "FILE.npy", "Masses of the rows, a vector; 1/M each by default");
  add_path(command, "--columns", options.columns, "FILE.npy", "The same of the columns");
  const auto read_rho = [](const std::string& text) {
    const double rho = parse_positive_number(text);
    return sinkhorn::Rho{rho, rho};
  };
  add_value(command, "--unbalanced", options.rho, read_rho, "RHO",
            "Let sums miss the masses at a cost of RHO KL(sums | masses); the masses need not have one total");
  add_precision_option(command, options, {Precision::f64, Precision::f32, Precision::mixed});
  add_limit_options(command, options, most_with_last_epsilon);
  add_run_options(command, options);
  command.footer(divergence_footer);
  command.final_callback([&command, &options] {
    expect_one_of(command);
    expect_points(options, options, options, "f64 or f32");
    expect_epsilons(options);
    expect_among(options);
  });
}

}  // namespace plait::cli
