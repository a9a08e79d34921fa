#include "cli/redistribute/relabeled_plan.hpp"

#include "plait/base/stopwatch.hpp"

#include "cli/host/text.hpp"

namespace plait::cli {

namespace {

constexpr Index most_cost = Index{1} << 62;

// Of long messages, while as many ranks of a node send and receive as were measured.
double rate_of(const model::Link& link) { return link.streams.back().both_ways.points().back().bytes_per_second; }

redistribute::Relabeling relabeling(const redistribute::SizedPair& pair, int ranks, const KnownNodes& nodes) {
  if (!nodes.are_several()) return redistribute::relabel({&pair, 1}, ranks);
  // So that the costs of all bytes can be counted.
  const Index bytes = layout::elements(pair.pair.to.shape()) * pair.element_bytes;
  const Index weight = std::clamp(most_cost / std::max(Index{1}, bytes), Index{1}, nodes.network_weight);
  return redistribute::relabel({&pair, 1}, ranks, redistribute::NodeCost(nodes.node_of, 1, weight));
}

}  // namespace

bool KnownNodes::are_several() const {
  return std::ranges::adjacent_find(node_of, std::ranges::not_equal_to()) != node_of.end();
}

Index network_weight(const model::Machine& machine) {
  constexpr double most = 1000;
  return std::lround(std::clamp(rate_of(machine.node) / rate_of(machine.network), 1.0, most));
}

double RelabeledPlan::removed_percent() const {
  if (before.bytes == 0) return 0;
  return 100 * static_cast<double>(before.bytes - after.bytes) / static_cast<double>(before.bytes);
}

Index RelabeledPlan::roles_changed() const {
  Index changed = 0;
  for (std::size_t role = 0; role < relabeling.rank_of.size(); ++role) {
    changed += relabeling.rank_of[role] == static_cast<int>(role) ? 0 : 1;
  }
  return changed;
}

RelabeledPlan relabeled_plan(const redistribute::SizedPair& pair, int ranks, const KnownNodes& nodes) {
  const Stopwatch watch;
  redistribute::Incoming incoming({&pair, 1});
  RelabeledPlan plan;
  plan.relabeling = relabeling(pair, ranks, nodes);
  plan.before = redistribute::communication_volume(incoming);
  plan.after = redistribute::communication_volume(incoming, plan.relabeling.rank_of);
  if (nodes.are_several()) {
    plan.network_bytes_before = redistribute::bytes_between_nodes(incoming, nodes.node_of);
    plan.network_bytes_after = redistribute::bytes_between_nodes(incoming, nodes.node_of, plan.relabeling.rank_of);
  }
  plan.seconds = watch.seconds();
  return plan;
}

void report_volume(Report& report, const std::string& prefix, const redistribute::CommunicationVolume& volume) {
  report.fact(prefix + "messages", volume.messages);
  report.fact(prefix + "volume_bytes", volume.bytes);
  report.fact(prefix + "largest_rank_bytes", volume.largest_rank_bytes);
}

std::string report_relabeled(Report& report, const RelabeledPlan& plan) {
  report_volume(report, "relabeled.", plan.after);
  std::string words;
  if (plan.network_bytes_after) {
    words = fmt::format("{} between nodes instead of {}, ",
                        bytes_text(report.fact("relabeled.network_bytes", *plan.network_bytes_after)),
                        bytes_text(report.fact("relabeled.network_bytes_before", *plan.network_bytes_before)));
  }
  const std::vector<int>& rank_of = report.fact("permutation", plan.relabeling.rank_of);
  return words + fmt::format("{:.2f} % less; {} of {} change roles (found in {})",
                             report.fact("relabeled.removed_percent", plan.removed_percent()),
                             report.fact("relabeled.roles_changed", plan.roles_changed()),
                             counted(static_cast<Index>(rank_of.size()), "rank"),
                             seconds_text(report.fact("relabeled.seconds", plan.seconds)));
}

}  // namespace plait::cli
