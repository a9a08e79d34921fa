#include "cli/redistribute/plan.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "plait/base/error.hpp"
#include "plait/base/stopwatch.hpp"
#include "plait/redistribute/communication_volume.hpp"
#include "plait/redistribute/options.hpp"
#include "plait/redistribute/relabel/incoming.hpp"

#include "cli/options/layout_argument.hpp"
#include "cli/options/op_name.hpp"
#include "cli/output/json_line.hpp"
#include "cli/output/print.hpp"
#include "cli/output/quantities.hpp"
#include "cli/redistribute/communication_plot.hpp"
#include "cli/redistribute/relabeled_plan.hpp"

namespace plait::cli {

namespace {

using nlohmann::ordered_json;
using redistribute::CommunicationVolume;
using redistribute::Incoming;

constexpr int most_ranks = 10'000'000;

struct Plan {
  int ranks = 0;
  Index bytes = 0;         // of the matrix
  Index source_bytes = 0;  // of the rank that holds most of it
  Index target_bytes = 0;
  CommunicationVolume volume;
  std::optional<Index> network_bytes;  // from node to node, where there are several
  double seconds = 0;
  std::optional<RelabeledPlan> relabeled;
};

Index largest_share(const layout::Layout& layout) {
  Index most = 0;
  for (int rank = 0; rank < layout.ranks(); ++rank) most = std::max(most, layout.elements_of(rank));
  return most;
}

std::string volume_text(const CommunicationVolume& volume) {
  return fmt::format("{} in {}; at most {} sent or received by a rank", bytes_text(volume.bytes),
                     counted(volume.messages, "message"), bytes_text(volume.largest_rank_bytes));
}

std::string subject_of(const PlanOptions& options, const Plan& plan) {
  return fmt::format("{} of B, {}, {}: {} on {}", name(options.op), layout::to_string(options.shape),
                     io::name(options.dtype), bytes_text(plan.bytes), counted(plan.ranks, "rank"));
}

std::string text_of(const PlanOptions& options, const Plan& plan) {
  std::string text = subject_of(options, plan) + "\n";
  const auto line = [&text](std::string_view what, std::string_view value) {
    text += fmt::format("  {:<11}{}\n", what, value);
  };
  line("from", options.from.text());
  line("to", options.to.text());
  line("moves", volume_text(plan.volume));
  if (plan.network_bytes) line("", bytes_text(*plan.network_bytes) + " of that between nodes");
  line("stays", bytes_text(plan.bytes - plan.volume.bytes));
  if (plan.relabeled) {
    line("relabeled", volume_text(plan.relabeled->after));
    line("", saving_text(*plan.relabeled));
  }
  line("memory", fmt::format("B {}, A {} and staging of {} on the fullest ranks", bytes_text(plan.source_bytes),
                             bytes_text(plan.target_bytes), bytes_text(redistribute::Options{}.memory_budget)));
  line("planned in", seconds_text(plan.seconds));
  return text;
}

std::string json_report(const PlanOptions& options, const Plan& plan) {
  ordered_json report{{"command", "plan"},
                      {"version", PLAIT_VERSION},
                      {"shape", {options.shape.rows, options.shape.columns}},
                      {"dtype", io::name(options.dtype)},
                      {"op", name(options.op)},
                      {"from", options.from.text()},
                      {"to", options.to.text()},
                      {"ranks", plan.ranks},
                      {"bytes", plan.bytes}};
  report.update(json_of(plan.volume));
  if (plan.network_bytes) report["network_bytes"] = *plan.network_bytes;
  report["kept_bytes"] = plan.bytes - plan.volume.bytes;
  report["memory"] = {{"source_bytes", plan.source_bytes},
                      {"target_bytes", plan.target_bytes},
                      {"staging_bytes", redistribute::Options{}.memory_budget}};
  report["seconds"] = plan.seconds;
  if (plan.relabeled) {
    report["relabeled"] = json_of(*plan.relabeled);
    report["permutation"] = plan.relabeled->relabeling.rank_of;
  }
  return json_line(report);
}

}  // namespace

void run_plan(const PlanOptions& options) {
  const layout::Layout from = layout_of_option("--from", options.from, options.shape);
  const layout::Layout to = layout_of_option("--to", options.to, redistribute::apply(options.op, options.shape));
  const redistribute::SizedPair pair{{from, to, options.op}, io::bytes(options.dtype)};

  for (const auto& [option, layout] : {std::pair("--from", &from), std::pair("--to", &to)}) {
    if (layout->ranks() <= most_ranks) continue;
    throw LayoutError(fmt::format("{}: {} ranks, expected at most {}: a plan looks at each of them", option,
                                  layout->ranks(), most_ranks));
  }
  const Stopwatch watch;
  Incoming incoming({&pair, 1});
  Plan plan;
  plan.ranks = std::max(from.ranks(), to.ranks());
  plan.bytes = layout::elements(options.shape) * pair.element_bytes;
  plan.source_bytes = largest_share(from) * pair.element_bytes;
  plan.target_bytes = largest_share(to) * pair.element_bytes;
  plan.volume = redistribute::communication_volume(incoming);
  KnownNodes nodes{{}, network_weight(model::default_machine())};
  for (int rank = 0; options.ranks_per_node > 0 && rank < plan.ranks; ++rank) {
    nodes.node_of.push_back(static_cast<int>(rank / options.ranks_per_node));
  }
  if (nodes.are_several()) plan.network_bytes = redistribute::bytes_between_nodes(incoming, nodes.node_of);
  plan.seconds = watch.seconds();
  if (options.relabel) plan.relabeled = relabeled_plan(pair, plan.ranks, nodes);

  if (!options.plot.empty()) {
    const std::span<const int> rank_of = plan.relabeled ? plan.relabeled->relabeling.rank_of : std::span<const int>();
    write_communication_plot(options.plot, subject_of(options, plan), options.command, incoming, plan.ranks, rank_of);
  }
  print_result(options.json ? json_report(options, plan) : text_of(options, plan));
}

}  // namespace plait::cli
