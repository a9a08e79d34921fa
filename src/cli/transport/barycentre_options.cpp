#include "cli/transport/barycentre_options.hpp"

#include <algorithm>
#include <iterator>

#include <CLI/CLI.hpp>

#include "cli/options/option_value.hpp"

namespace plait::cli {

namespace {

constexpr const char* footer =
    R"(The masses a of the rows that minimise the weighted sum of the costs of entropic transport from a to each histogram.

Example: the mean of histograms that are the columns of B
  mpirun -n 2 plait barycentre C.npy --histograms B.npy --epsilon 0.01 -o a.npy
Example: of histograms over the points of Y, at those of X
  mpirun -n 2 plait barycentre --points X.npy Y.npy --histograms B.npy --epsilon 0.01 -o a.npy)";

}  // namespace

std::vector<InputFile> inputs_of(const BarycentreOptions& options) {
  auto inputs = inputs_of(static_cast<const ScaledOptions&>(options));
  std::ranges::copy(inputs_of_points(options), std::back_inserter(inputs));
  inputs.push_back({"histogram ", options.histograms});
  inputs.push_back({"weight", options.weights});
  return inputs;
}

void add_barycentre(CLI::App& program, BarycentreOptions& options) {
  CLI::App& command =
      *program.add_subcommand("barycentre", "Find the entropic barycentre of several histograms over a common cost");
  add_path(
      command, "IN", options.input, "FILE",
      "C, the costs, between the points of the barycentre (rows) and those of the histograms (columns), in C order");
  add_points_options(command, options);
  add_path(
      command, "--histograms", options.histograms, "FILE",
      "B, with as many rows as C has columns: each column is a histogram, all of one sum; or a vector, which is one")
      ->required();
  add_epsilon_options(command, options);
  add_npy_path(command, "-o,--output", options.of_rows, "FILE", "The masses, M x 1, as a .npy file")->required();
  add_path(command, "--weights", options.weights, "FILE.npy",
           "Weights of the histograms, which add up to 1; all alike by default");
  add_precision_option(command, options, {Precision::f64, Precision::mixed});
  add_limit_options(command, options, most_with_last_epsilon);
  add_checkpoint_options(command, options, usual_checkpoint_every);
  add_run_options(command, options);
  command.footer(footer);
  command.final_callback([&command, &options] {
    expect_one_of(command);
    expect_checkpoint(options);
    expect_points(options, options, options, "f64");
    expect_epsilons(options);
  });
}

}  // namespace plait::cli
