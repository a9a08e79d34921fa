#include "cli/redistribute/plan_options.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/options/layout_argument.hpp"
#include "cli/options/number_argument.hpp"
#include "cli/options/op_name.hpp"
#include "cli/options/option_value.hpp"
#include "cli/options/report_options.hpp"
#include "cli/options/shape_argument.hpp"

namespace plait::cli {

namespace {

constexpr const char* plan_footer_begin =
    R"(Nothing is moved, and no launcher is needed: layouts may have any number of ranks.

)";

constexpr const char* plan_footer_end = R"(
Example: from a grid numbered by rows to one numbered by columns, and what renumbering the ranks saves
  plait plan --shape 100000x100000 --from block-cyclic:5000x5000@10x10 \
    --to block-cyclic:10000x10000@10x10,order=col --relabel --plot volume.svg)";

}  // namespace

void add_plan(CLI::App& program, PlanOptions& options) {
  CLI::App& command =
      *program.add_subcommand("plan", "Compute what a redistribution would move, and what relabeling saves");
  add_value(command, "--shape", options.shape, parse_shape, "ROWSxCOLUMNS", "The shape of B")->required();
  add_value(command, "--from", options.from, layout::LayoutSpec::parse, "LAYOUT", "How the ranks hold B before")
      ->required();
  add_value(command, "--to", options.to, layout::LayoutSpec::parse, "LAYOUT",
            "How the ranks hold A after; of op(B)'s shape")
      ->required();
  add_value(command, "--dtype", options.dtype, io::parse_dtype, "TYPE",
            fmt::format("Type of the elements, one of {}; f64 by default", io::all_dtype_names()));
  add_value(command, "--op", options.op, parse_op, "OP", op_words);
  command.add_flag("--relabel", options.relabel, "Let ranks change roles in --to so that the least data moves")
      ->disable_flag_override();
  add_value(command, "--ranks-per-node", options.ranks_per_node, parse_positive_count, "COUNT",
            "Ranks in a row that share a node: prints the traffic between nodes, which --relabel minimises first");
  add_typed_path(command, "--plot", options.plot, "FILE.svg",
                 "Draw how much each rank sends to each other, with --relabel before and after", "an SVG file", ".svg")
      ->group(group::run);
  add_json_option(command, options.json);
  command.footer(plan_footer_begin + layout_help() + plan_footer_end);
}

}  // namespace plait::cli
