#include "cli/sinkhorn/sinkhorn_options.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/options/option_value.hpp"
#include "cli/options/shape_argument.hpp"

namespace plait::cli {

namespace {

const ScaledWords sinkhorn_words{
    "factors",
    "--row-factors",
    "--column-factors",
    {Precision::f64, Precision::f32, Precision::mixed, Precision::bf16},
    "K: a NumPy .npy, Matrix Market or HDF5 file of numbers >= 0",
    "Wanted sums of the rows, a vector; without --rows and --columns 1 each, without one of them all alike",
    add_plan_path,
    "The plan, a .npy file, or of a sparse K a Matrix Market file .mtx; may be IN itself",
    most_in_all};

constexpr Index most_grid_ranks = 1'000'000;

GridChoice parse_grid(std::string_view text) {
  if (text == "auto") return {true, {}};
  const auto wrong = [text] {
    return ArgumentError(fmt::format("'{}' is no grid; expected one such as 2x2, or auto", text));
  };
  try {
    const layout::Shape grid = parse_shape(text);
    if (grid.rows < 1 || grid.columns < 1 || grid.rows > most_grid_ranks || grid.columns > most_grid_ranks)
      throw wrong();
    return {false, grid};
  } catch (const Error&) {
    throw wrong();
  }
}

bool is_algorithm(ScalingMethod method) {
  return method != ScalingMethod::scaling && method != ScalingMethod::in_place;
}

void expect_consistent(const SinkhornOptions& options) {
  const sinkhorn::ColumnExchange& exchange = options.exchange;
  if (options.method != ScalingMethod::scaling && !options.start.empty()) {
    throw UsageError(
        fmt::format("--start is given, but --method {} begins with the matrix as it is", name(options.method)));
  }
  if (options.method != ScalingMethod::scaling && !options.checkpoint.empty()) {
    throw UsageError(
        fmt::format("--checkpoint is given, but --method {} changes all of K, expected scaling", name(options.method)));
  }
  if (options.grid.is_given() && !options.checkpoint.empty()) {
    throw UsageError("--checkpoint is given, but --grid has none; expected whole rows");
  }
  if (options.method == ScalingMethod::scaling && exchange.way != sinkhorn::SumWay::chosen) {
    throw UsageError("--exchange is given, but --method scaling chooses by itself; expected another method");
  }
  if (options.over_relaxation != 1 && options.method != ScalingMethod::scaling) {
    throw UsageError(fmt::format("--over-relaxation is given, but --method {} has none", name(options.method)));
  }
  if (options.over_relaxation != 1 && options.grid.is_given()) {
    throw UsageError("--over-relaxation is given, but --grid has none; expected whole rows");
  }
  if (options.grid.is_given() && options.method != ScalingMethod::scaling) {
    throw UsageError(
        fmt::format("--grid is given, but --method {} works on whole rows; expected scaling", name(options.method)));
  }
  if (options.grid.is_given() && options.precision == Precision::bf16) {
    throw UsageError("--grid is given, but --precision bf16 is for whole rows; expected f64, f32 or mixed");
  }
  const bool is_pipelined = exchange.meanwhile == sinkhorn::Meanwhile::rescale;
  const bool deals = exchange.leader_rows == sinkhorn::LeaderRows::dealt;
  if ((is_pipelined || deals) && !is_algorithm(options.method)) {
    throw UsageError(fmt::format("{} is given, but --method {} has no update of its own; expected algorithm-1, 2 or 3",
                                 is_pipelined ? "--pipelined" : "--deal-rows", name(options.method)));
  }
  if (is_pipelined && exchange.way == sinkhorn::SumWay::mpi) {
    throw UsageError("--pipelined is given, but --exchange mpi returns everything at once; expected another exchange");
  }
  if (is_algorithm(options.method) && (options.precision == Precision::mixed || options.precision == Precision::bf16)) {
    throw UsageError(
        fmt::format("--precision {} is given, but --method {} computes with elements as they are; expected "
                    "f64 or f32",
                    name(options.precision), name(options.method)));
  }
}

constexpr const char* sinkhorn_footer =
    R"(P = diag(u) K diag(v), with the factors u of the rows and v of the columns that give P its sums. If no factors exist,
the command says why, and writes nothing. A Matrix Market file of the coordinate format stays sparse, except with several
marginals, --grid, --over-relaxation, another --method than scaling, or --precision bf16.

A stopped job goes on from its last checkpoint when the same command runs again with --resume; on as many ranks, with
the same bits.

Example: make a matrix doubly stochastic
  mpirun -n 2 plait sinkhorn K.npy -o P.npy
Example: scale to given sums, and keep the factors only
  mpirun -n 2 plait sinkhorn K.npy --rows r.npy --columns c.npy --row-factors u.npy --column-factors v.npy)";

}  // namespace

std::string_view name(ScalingMethod method) noexcept {
  switch (method) {
    case ScalingMethod::scaling: return "scaling";
    case ScalingMethod::in_place: return "in-place";
    case ScalingMethod::algorithm_1: return "algorithm-1";
    case ScalingMethod::algorithm_2: return "algorithm-2";
    case ScalingMethod::algorithm_3: return "algorithm-3";
  }
  return "";
}

void add_sinkhorn(CLI::App& program, SinkhornOptions& options) {
  CLI::App& command = *program.add_subcommand(
      "sinkhorn", "Scale a matrix so that rows and columns have given sums:  P = diag(u) K diag(v)");
  add_scaled_options(command, options, sinkhorn_words);
  for (const char* output : {"--output", "--row-factors", "--column-factors"}) {
    command.get_option(output)->group(group::one_of);
  }
  using enum ScalingMethod;
  add_choice(command, "--method", options.method, named({scaling, in_place, algorithm_1, algorithm_2, algorithm_3}),
             "METHOD",
             "Algorithm: {}. scaling reads K once an iteration; in-place rescales K each time; the others are those of "
             "COFFEE, to compare");
  using sinkhorn::SumWay;
  add_choice(command, "--exchange", options.exchange.way,
             named({SumWay::chosen, SumWay::mpi, SumWay::ring, SumWay::two_level, SumWay::coffee}), "EXCHANGE",
             "How to sum columns over the ranks, not with --method scaling: {}");
  command
      .add_flag_callback(
          "--pipelined", [&options] { options.exchange.meanwhile = sinkhorn::Meanwhile::rescale; },
          "With an algorithm-N: rescale columns whose sums have come while others are on their way")
      ->disable_flag_override();
  command
      .add_flag_callback(
          "--deal-rows", [&options] { options.exchange.leader_rows = sinkhorn::LeaderRows::dealt; },
          "With an algorithm-N: deal the rows of a node's first rank to the others of the node")
      ->disable_flag_override();
  add_value(
      command, "--grid", options.grid, parse_grid, "RxC",
      "Cut K into blocks for a grid of R x C ranks, all of them, or for the cheapest grid: auto. By default each rank "
      "has whole rows");
  command.footer(sinkhorn_footer);
  command.final_callback([&command, &options] {
    expect_one_of(command);
    expect_different_outputs(options, sinkhorn_words);
    expect_checkpoint(options);
    expect_consistent(options);
  });
}

}  // namespace plait::cli
