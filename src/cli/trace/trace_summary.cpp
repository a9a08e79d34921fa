#include "cli/trace/trace_summary.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/job/link_rate.hpp"
#include "cli/output/json_line.hpp"
#include "cli/output/quantities.hpp"

namespace plait::cli {

namespace {

using nlohmann::ordered_json;
using report::LinkUse;
using report::RankOverlap;

std::string share_of(Nanoseconds part, Nanoseconds whole) {
  return fmt::format("{} ({})", percent_text(static_cast<double>(part), static_cast<double>(whole)),
                     seconds_text(seconds(part)));
}

std::string traffic_text(const TrafficCounters& traffic) {
  std::string text;
  for (const PeerClass peer : peer_classes) {
    const Traffic& sent = traffic.sent_to(peer);
    const char* where = peer == PeerClass::self   ? "within ranks"
                        : peer == PeerClass::node ? "within nodes"
                                                  : "between nodes";
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", bytes_text(sent.bytes), where);
    if (sent.messages > 0) text += fmt::format(" ({})", counted(sent.messages, "message"));
  }
  return text;
}

std::string links_text(const TraceFigures& figures) {
  std::string text;
  for (int n = 0; n < figures.nodes(); ++n) {
    const LinkUse& link = figures.overlap.links[static_cast<std::size_t>(n)];
    if (link.busy[0] == 0 && link.busy[1] == 0) continue;
    text +=
        fmt::format("{}node {}: out {}, in {}", text.empty() ? "" : "\n            ", n,
                    rate_text(link.bytes[0], seconds(link.busy[0])), rate_text(link.bytes[1], seconds(link.busy[1])));
    if (figures.bits_per_second > 0) {
      text += fmt::format("; {} of {}", percent_text(achieved_share(link, figures.bits_per_second), 1),
                          link_rate_text(figures.bits_per_second));
    }
  }
  return text;
}

ordered_json traffic_json(const std::array<Traffic, 3>& traffic) {
  ordered_json result;
  for (const PeerClass peer : peer_classes) {
    const Traffic& counted = traffic[static_cast<std::size_t>(peer)];
    result[std::string(name(peer))] = {{"messages", counted.messages}, {"bytes", counted.bytes}};
  }
  return result;
}

ordered_json rank_json(const RankOverlap& rank) {
  return {{"running_seconds", seconds(rank.running)},     {"computing_seconds", seconds(rank.computing)},
          {"posting_seconds", seconds(rank.posting)},     {"waiting_seconds", seconds(rank.waiting)},
          {"under_way_seconds", seconds(rank.under_way)}, {"hidden_seconds", seconds(rank.hidden)},
          {"sent", traffic_json(rank.traffic.sent)},      {"received", traffic_json(rank.traffic.received)}};
}

ordered_json link_json(const LinkUse& link, double bits_per_second) {
  ordered_json result{{"bytes_out", link.bytes[0]},
                      {"bytes_in", link.bytes[1]},
                      {"busy_out_seconds", seconds(link.busy[0])},
                      {"busy_in_seconds", seconds(link.busy[1])}};
  result["achieved_share"] = bits_per_second > 0 ? ordered_json(achieved_share(link, bits_per_second)) : ordered_json();
  return result;
}

}  // namespace

Index TraceFigures::runs() const noexcept {
  std::size_t most = 0;
  for (const report::RankTrace& rank : trace.ranks) most = std::max(most, rank.recording.runs.size());
  return static_cast<Index>(most);
}

Index TraceFigures::lost() const noexcept {
  Index sum = 0;
  for (const report::RankTrace& rank : trace.ranks) sum += rank.recording.lost;
  return sum;
}

std::string percent_text(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f} %", 100 * part / whole) : "-";
}

std::string summary(const TraceFigures& figures) {
  const RankOverlap all = figures.overlap.sum();
  std::string text = fmt::format(
      "{}: {} on {}, {} in {}\n", figures.path, counted(static_cast<Index>(figures.trace.ranks.size()), "rank"),
      counted(figures.nodes(), "node"), counted(figures.runs(), "run"), seconds_text(seconds(figures.overlap.span)));
  const auto line = [&text](std::string_view what, std::string_view value) {
    text += fmt::format("  {:<10}{}\n", what, value);
  };
  if (all.under_way > 0) {
    line("overlap", fmt::format("{} of {} of communication hidden",
                                percent_text(static_cast<double>(all.hidden), static_cast<double>(all.under_way)),
                                seconds_text(seconds(all.under_way))));
  } else {
    line("overlap", "nothing to hide: no message between ranks was under way");
  }
  line("spent", fmt::format("computing {}, posting {}, waiting {}, rest {}", share_of(all.computing, all.running),
                            share_of(all.posting, all.running), share_of(all.waiting, all.running),
                            share_of(all.rest(), all.running)));
  line("sent", traffic_text(all.traffic));
  if (const std::string links = links_text(figures); !links.empty()) line("links", links);
  if (figures.nodes() > 1) {
    line("clocks", fmt::format("agree to {}", seconds_text(seconds(figures.trace.clock_error))));
  }
  if (figures.lost() > 0) line("lost", fmt::format("{} for lack of memory", counted(figures.lost(), "entry")));
  return text;
}

std::string json_report(const TraceFigures& figures) {
  const RankOverlap all = figures.overlap.sum();
  ordered_json ranks = ordered_json::array();
  for (const RankOverlap& rank : figures.overlap.ranks) ranks.push_back(rank_json(rank));
  ordered_json links = ordered_json::array();
  for (const LinkUse& link : figures.overlap.links) links.push_back(link_json(link, figures.bits_per_second));
  ordered_json report{
      {"command", "trace"},
      {"version", PLAIT_VERSION},
      {"ranks", figures.trace.ranks.size()},
      {"nodes", figures.nodes()},
      {"runs", figures.runs()},
      {"seconds", seconds(figures.overlap.span)},
      {"hidden_share", all.under_way > 0 ? ordered_json(figures.overlap.hidden_share()) : ordered_json()},
      {"clock_error_seconds", seconds(figures.trace.clock_error)},
      {"lost", figures.lost()}};
  report["link_bits_per_second"] = figures.bits_per_second > 0 ? ordered_json(figures.bits_per_second) : ordered_json();
  report["all_ranks"] = rank_json(all);
  report["per_rank"] = std::move(ranks);
  report["links"] = std::move(links);
  return json_line(report);
}

}  // namespace plait::cli
