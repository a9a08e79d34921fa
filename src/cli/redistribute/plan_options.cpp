#include "cli/redistribute/plan_options.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/options/layout_argument.hpp"
#include "cli/options/number_argument.hpp"
#include "cli/options/op_name.hpp"
#include "cli/options/option_value.hpp"
#include "cli/options/shape_argument.hpp"

namespace plait::cli {

namespace {

constexpr const char* plan_footer_begin =
    R"(Nothing is moved and no launcher is needed: layouts may have any number of ranks.

)";

constexpr const char* plan_footer_end = R"(
Example: what it takes to turn a grid whose ranks are numbered by rows into one numbered by columns, and how much of that
renumbering the ranks saves
  plait plan --shape 100000x100000 --from block-cyclic:5000x5000@10x10 \
    --to block-cyclic:10000x10000@10x10,order=col --relabel --plot volume.svg)";

}  // namespace

void add_plan(CLI::App& program, PlanOptions& options) {
  CLI::App& command =
      *program.add_subcommand("plan", "Tell what a redistribution would move, and what relabeling saves");
  add_value(
      command, "--from", [&options](const std::string& text) { options.from = layout::LayoutSpec::parse(text); },
      "LAYOUT", "How the ranks hold B before")
      ->required();
  add_value(
      command, "--to", [&options](const std::string& text) { options.to = layout::LayoutSpec::parse(text); }, "LAYOUT",
      "How the ranks hold A after; of op(B)'s shape")
      ->required();
  add_value(
      command, "--shape", [&options](const std::string& text) { options.shape = parse_shape(text); }, "ROWSxCOLUMNS",
      "The extents of B")
      ->required();
  add_value(
      command, "--type", [&options](const std::string& text) { options.dtype = io::parse_dtype(text); }, "TYPE",
      fmt::format("{}; f64 by default", io::all_dtype_names()));
  add_value(
      command, "--op", [&options](const std::string& text) { options.op = parse_op(text); }, "OP",
      "identity (the default), transpose, conjugate or conjugate-transpose; or N, T, C, H");
  command.add_flag("--relabel", options.relabel, "Let ranks change roles in --to so that least is moved");
  add_value(
      command, "--ranks-per-node", [&options](const std::string& text) { options.ranks_per_node = parse_count(text); },
      "N", "How many ranks in a row share a node: tells what goes between nodes, and --relabel saves that first");
  add_typed_path(command, "--plot", options.plot, "FILE.svg",
                 "A picture of how much each rank sends to each other, with --relabel before and after", "an SVG file",
                 ".svg");
  command.add_flag("--json", options.json, "Print the result as one line of JSON");
  command.footer(plan_footer_begin + layout_help() + plan_footer_end);
}

}  // namespace plait::cli
