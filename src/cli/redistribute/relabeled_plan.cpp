#include "cli/redistribute/relabeled_plan.hpp"

#include <fmt/format.h>

#include "plait/base/stopwatch.hpp"

#include "cli/options/relabel_option.hpp"
#include "cli/output/quantities.hpp"

namespace plait::cli {

using nlohmann::ordered_json;

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

RelabeledPlan relabeled_plan(const redistribute::SizedPair& pair, int ranks, redistribute::AssignmentMethod method) {
  const Stopwatch watch;
  redistribute::Incoming incoming({&pair, 1});
  RelabeledPlan plan;
  plan.method = method;
  plan.relabeling = redistribute::relabel({&pair, 1}, ranks, redistribute::VolumeCost(), method);
  plan.before = redistribute::communication_volume(incoming);
  plan.after = redistribute::communication_volume(incoming, plan.relabeling.rank_of);
  plan.seconds = watch.seconds();
  return plan;
}

std::string saving_text(const RelabeledPlan& plan) {
  return fmt::format("{:.2f} % less; {} of {} change their roles ({}, found in {})", plan.removed_percent(),
                     plan.roles_changed(), counted(static_cast<Index>(plan.relabeling.rank_of.size()), "rank"),
                     name(plan.method), seconds_text(plan.seconds));
}

ordered_json json_of(const redistribute::CommunicationVolume& volume) {
  return {
      {"messages", volume.messages}, {"volume_bytes", volume.bytes}, {"largest_rank_bytes", volume.largest_rank_bytes}};
}

ordered_json json_of(const RelabeledPlan& plan) {
  ordered_json report = json_of(plan.after);
  report["removed_percent"] = plan.removed_percent();
  report["method"] = name(plan.method);
  report["roles_changed"] = plan.roles_changed();
  report["seconds"] = plan.seconds;
  return report;
}

}  // namespace plait::cli
