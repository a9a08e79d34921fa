#include "cli/sinkhorn/sinkhorn_options.hpp"

#include <cstddef>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/options/option_value.hpp"
#include "cli/options/shape_argument.hpp"

namespace plait::cli {

namespace {

constexpr ScaledWords sinkhorn_words{
    "factors",
    "--row-factors",
    "--column-factors",
    "f64, f32, mixed or bf16",
    "K: a NumPy .npy, Matrix Market or HDF5 file of numbers >= 0",
    "What the rows are to sum up to: a .npy file of a vector;\n1 each without --rows and --cols, else alike",
    add_plan_path,
    "Where the plan goes, as a .npy file, or of a sparse K\nas a Matrix Market file .mtx; may be IN itself",
    most_in_all};

constexpr Index most_grid_ranks = 1'000'000;

constexpr ScalingForm forms[] = {ScalingForm::scaling, ScalingForm::in_place, ScalingForm::algorithm_1,
                                 ScalingForm::algorithm_2, ScalingForm::algorithm_3};
constexpr sinkhorn::SumWay ways[] = {sinkhorn::SumWay::chosen, sinkhorn::SumWay::mpi, sinkhorn::SumWay::ring,
                                     sinkhorn::SumWay::two_level, sinkhorn::SumWay::coffee};

template <class T, std::size_t Count>
T parse_name(std::string_view text, const T (&all)[Count], std::string_view what, std::string_view expected) {
  for (const T one : all) {
    if (text == name(one)) return one;
  }
  throw ArgumentError(fmt::format("'{}' is no {}; expected {}", text, what, expected));
}

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

bool is_algorithm(ScalingForm form) { return form != ScalingForm::scaling && form != ScalingForm::in_place; }

void expect_consistent(const SinkhornOptions& options) {
  const sinkhorn::ColumnExchange& exchange = options.exchange;
  if (options.form != ScalingForm::scaling && !options.start.empty()) {
    throw UsageError(
        fmt::format("--start is given, but --form {} begins with the matrix as it is", name(options.form)));
  }
  if (options.form != ScalingForm::scaling && !options.checkpoint.empty()) {
    throw UsageError(
        fmt::format("--checkpoint is given, but --form {} changes all of K, expected scaling", name(options.form)));
  }
  if (options.grid.is_given() && !options.checkpoint.empty()) {
    throw UsageError("--checkpoint is given, but --grid has none; expected whole rows");
  }
  if (options.form == ScalingForm::scaling && exchange.way != sinkhorn::SumWay::chosen) {
    throw UsageError("--exchange is given, but --form scaling chooses by itself; expected another form");
  }
  if (options.over_relaxation != 1 && options.form != ScalingForm::scaling) {
    throw UsageError(fmt::format("--over-relaxation is given, but --form {} has none", name(options.form)));
  }
  if (options.over_relaxation != 1 && options.grid.is_given()) {
    throw UsageError("--over-relaxation is given, but --grid has none; expected whole rows");
  }
  if (options.grid.is_given() && options.form != ScalingForm::scaling) {
    throw UsageError(
        fmt::format("--grid is given, but --form {} works on whole rows; expected scaling", name(options.form)));
  }
  if (options.grid.is_given() && options.precision == Precision::bf16) {
    throw UsageError("--grid is given, but --precision bf16 is for whole rows; expected f64, f32 or mixed");
  }
  const bool overlaps = exchange.meanwhile == sinkhorn::Meanwhile::rescale;
  const bool deals = exchange.leader_rows == sinkhorn::LeaderRows::dealt;
  if ((overlaps || deals) && !is_algorithm(options.form)) {
    throw UsageError(fmt::format("{} is given, but --form {} has no update of its own; expected algorithm-1, 2 or 3",
                                 overlaps ? "--overlap" : "--deal-rows", name(options.form)));
  }
  if (overlaps && exchange.way == sinkhorn::SumWay::mpi) {
    throw UsageError("--overlap is given, but --exchange mpi returns everything at once; expected another exchange");
  }
  if (is_algorithm(options.form) && (options.precision == Precision::mixed || options.precision == Precision::bf16)) {
    throw UsageError(
        fmt::format("--precision {} is given, but --form {} computes with elements as they are; expected "
                    "f64 or f32",
                    name(options.precision), name(options.form)));
  }
}

constexpr const char* sinkhorn_footer =
    R"(P = diag(u) K diag(v), with the factors u of the rows and v of the columns that give P its sums. Where no
factors do, it is said why, and nothing is written. A Matrix Market file of the coordinate format stays sparse,
but with several marginals, --grid, --over-relaxation, another --form than scaling, or --precision bf16.

A job that is stopped, however, goes on from its last checkpoint if the same command is given again with --resume, and
gives the same bits on as many ranks.

Example: make a matrix doubly stochastic
  mpirun -n 2 plait sinkhorn K.npy -o P.npy
Example: to given sums, keeping the factors only
  mpirun -n 2 plait sinkhorn K.npy --rows r.npy --cols c.npy --row-factors u.npy --column-factors v.npy)";

}  // namespace

std::string_view name(ScalingForm form) noexcept {
  switch (form) {
    case ScalingForm::scaling: return "scaling";
    case ScalingForm::in_place: return "in-place";
    case ScalingForm::algorithm_1: return "algorithm-1";
    case ScalingForm::algorithm_2: return "algorithm-2";
    case ScalingForm::algorithm_3: return "algorithm-3";
  }
  return "";
}

void add_sinkhorn(CLI::App& program, SinkhornOptions& options) {
  CLI::App& command = *program.add_subcommand(
      "sinkhorn", "Scale a matrix so that rows and columns have given sums:  P = diag(u) K diag(v)");
  add_scaled_options(command, options, sinkhorn_words);
  add_value(
      command, "--form",
      [&options](const std::string& text) {
        options.form = parse_name(text, forms, "form", "scaling, in-place, algorithm-1, algorithm-2 or algorithm-3");
      },
      "FORM",
      "scaling (the default): K is read once an iteration and\nnot written; in-place: K is rescaled each time; to "
      "compare,\nCOFFEE's algorithm-1, algorithm-2 and algorithm-3");
  add_value(
      command, "--exchange",
      [&options](const std::string& text) {
        options.exchange.way = parse_name(text, ways, "exchange", "chosen, mpi, ring, two-level or coffee");
      },
      "WAY",
      "How sums of columns are exchanged, for other forms than\nscaling: chosen (the default), mpi, ring, "
      "two-level, coffee");
  command.add_flag_callback(
      "--overlap", [&options] { options.exchange.meanwhile = sinkhorn::Meanwhile::rescale; },
      "With an algorithm: rescale columns whose sums have come\nwhile others are on their way");
  command.add_flag_callback(
      "--deal-rows", [&options] { options.exchange.leader_rows = sinkhorn::LeaderRows::dealt; },
      "With an algorithm: deal the rows of a node's first rank\nto the others of the node");
  add_value(
      command, "--grid", [&options](const std::string& text) { options.grid = parse_grid(text); }, "RxC",
      "Cut K into blocks for a grid of R x C ranks, all of them,\nor for the one that costs least: auto. By default "
      "each\n"
      "rank has whole rows");
  command.footer(sinkhorn_footer);
  command.final_callback([&options] {
    expect_output(options, sinkhorn_words);
    expect_checkpoint(options);
    expect_consistent(options);
  });
}

}  // namespace plait::cli
