#include "cli/transport/transport_options.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/options/number_argument.hpp"
#include "cli/options/option_value.hpp"

namespace plait::cli {

namespace {

const ScaledWords transport_words{"potentials",
                                  "--row-potentials",
                                  "--column-potentials",
                                  {Precision::f64, Precision::f32, Precision::mixed},
                                  "C, the costs: a NumPy .npy, Matrix Market or HDF5 file; +infinity forbids an entry",
                                  "Masses of the rows, a vector; 1/M each by default",
                                  add_npy_path,
                                  "The plan, as a .npy file; may be IN itself",
                                  most_with_last_epsilon};

/// "RHO", or "RHO,RHO" of which one may be inf.
sinkhorn::Rho parse_rho(std::string_view text) {
  const auto one = [](std::string_view number) {
    return number == "inf" ? std::numeric_limits<double>::infinity() : parse_positive_number(number);
  };
  const auto comma = text.find(',');
  if (comma == std::string_view::npos) {
    const double rho = parse_positive_number(text);
    return {rho, rho};
  }
  const sinkhorn::Rho rho{one(text.substr(0, comma)), one(text.substr(comma + 1))};
  if (!rho.is_balanced()) return rho;
  throw ArgumentError(fmt::format("{} is balanced transport; expected a finite number for rows or columns", text));
}

constexpr const char* transport_footer =
    R"(The plan P >= 0 with these masses minimises  sum C P + epsilon sum P (log P - 1).  It is
exp((f + g - C) / epsilon), f the potentials of the rows and g of the columns. A small epsilon is approached from a
larger one. Unbalanced, RHO KL(sums | masses) is added, with KL(p | q) = sum p log(p / q) - p + q.

Example: the plan between given masses
  mpirun -n 2 plait transport C.npy --epsilon 0.01 --rows a.npy --columns b.npy -o P.npy
Example: what it costs to move one cloud of points to another, and where each point goes
  mpirun -n 2 plait transport --points X.npy Y.npy --epsilon 0.01 --map moved.npy
Example: leave where it is what costs too much to move
  mpirun -n 2 plait transport C.npy --epsilon 0.01 --unbalanced 0.5 --rows a.npy --columns b.npy -o P.npy)";

}  // namespace

std::vector<InputFile> inputs_of(const TransportJobOptions& options) {
  auto inputs = inputs_of(static_cast<const ScaledOptions&>(options));
  std::ranges::copy(inputs_of_points(options), std::back_inserter(inputs));
  return inputs;
}

void add_transport(CLI::App& program, TransportJobOptions& options) {
  CLI::App& command = *program.add_subcommand("transport", "Transport mass at the least cost, with an entropy added");
  add_scaled_options(command, options, transport_words);
  add_points_options(command, options);
  add_npy_path(command, "--map", options.map, "FILE", "With --points: where each point of X goes on average, M x d");
  add_epsilon_options(command, options);
  add_value(
      command, "--unbalanced", options.rho, parse_rho, "RHO[,RHO]",
      "Let sums miss the masses at a cost of RHO KL(sums | masses), of rows and columns, or each its own, of which one "
      "may be inf; the masses need not have one total");
  command.footer(transport_footer);
  command.final_callback([&command, &options] {
    expect_one_of(command);
    expect_points(options, options, options, "f64 or f32");
    if (options.points.empty() && !options.map.empty()) {
      throw UsageError("--map is given, but --points is missing: what is mapped?");
    }
    expect_checkpoint(options);
    expect_different_outputs(options, transport_words);
    expect_epsilons(options);
  });
}

}  // namespace plait::cli
