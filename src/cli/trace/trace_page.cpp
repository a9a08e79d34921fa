#include "cli/trace/trace_page.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/job/link_rate.hpp"
#include "cli/output/quantities.hpp"
#include "cli/pictures/page.hpp"
#include "cli/pictures/svg.hpp"
#include "cli/trace/timeline.hpp"

namespace plait::cli {

namespace {

using report::LinkUse;
using report::RankOverlap;

constexpr std::size_t most_rows = 256;  // of a table; of more ranks the first ones

std::string time_text(Nanoseconds time) { return seconds_text(seconds(time)); }
std::string share_text(Nanoseconds part, Nanoseconds whole) {
  return percent_text(static_cast<double>(part), static_cast<double>(whole));
}

std::string summary_of(const TraceFigures& figures) {
  std::string text =
      fmt::format("{} on {}, {} in {}", counted(static_cast<Index>(figures.trace.ranks.size()), "rank"),
                  counted(figures.nodes(), "node"), counted(figures.runs(), "run"), time_text(figures.overlap.span));
  if (figures.nodes() > 1) text += fmt::format("; the nodes' clocks agree to {}", time_text(figures.trace.clock_error));
  if (figures.lost() > 0) {
    text += fmt::format(". For lack of memory {} not recorded, so the figures are not those of all runs.",
                        figures.lost() == 1 ? "1 entry was" : fmt::format("{} entries were", figures.lost()));
  }
  return text;
}

std::string tiles(const TraceFigures& figures) {
  const RankOverlap all = figures.overlap.sum();
  std::string text = "<div class=\"tiles\">\n";
  if (all.under_way > 0)
    text += tile(share_text(all.hidden, all.under_way), "of the communication hidden under computation");
  text += tile(share_text(all.computing, all.running), "of the time computing");
  text += tile(fmt::format("{} : {}", share_text(all.posting, all.running), share_text(all.waiting, all.running)),
               "posting : waiting");
  double best = 0;
  for (const LinkUse& link : figures.overlap.links)
    best = std::max(best, achieved_share(link, figures.bits_per_second));
  if (best > 0) {
    text += tile(percent_text(best, 1),
                 fmt::format("of a link of {} achieved, on the best node", link_rate_text(figures.bits_per_second)));
  }
  return text + "</div>\n";
}

/// How a rank spent its time, as a bar of a hundred parts.
std::string bar(const RankOverlap& rank) {
  if (rank.running <= 0) return {};
  std::string paths;
  double at = 0;
  for (const auto& [mark, time] : {std::pair("compute", rank.computing), std::pair("post", rank.posting),
                                   std::pair("wait", rank.waiting), std::pair("rest", rank.rest())}) {
    const double share = 100 * static_cast<double>(std::max(time, Nanoseconds{0})) / static_cast<double>(rank.running);
    paths += fmt::format("<path class=\"{}\" d=\"M{:.1f} 5h{:.1f}\"/>", mark, at, share);
    at += share;
  }
  return fmt::format(
      "<svg class=\"bar\" viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" stroke-width=\"10\" role=\"img\" "
      "aria-label=\"computing {}, posting {}, waiting {}\">{}</svg>",
      share_text(rank.computing, rank.running), share_text(rank.posting, rank.running),
      share_text(rank.waiting, rank.running), paths);
}

std::string spent(const TraceFigures& figures) {
  std::vector<std::vector<std::string>> rows{
      {"", "", "computing", "posting", "waiting", "rest", "of", "communicating", "hidden"}};
  const auto add = [&rows](std::string name, const RankOverlap& rank) {
    rows.push_back({std::move(name), bar(rank), time_text(rank.computing), time_text(rank.posting),
                    time_text(rank.waiting), time_text(rank.rest()), time_text(rank.running), time_text(rank.under_way),
                    share_text(rank.hidden, rank.under_way)});
  };
  const auto& ranks = figures.overlap.ranks;
  for (std::size_t rank = 0; rank < std::min(ranks.size(), most_rows); ++rank)
    add(fmt::format("rank {}", rank), ranks[rank]);
  add("all ranks", figures.overlap.sum());
  return "<h2>How the time was spent</h2>\n<p>" + key("compute", "computing") + key("post", "posting") +
         key("wait", "waiting") + key("rest", "rest: looking at the network, the program itself") + "</p>\n" +
         table(rows) +
         "<p class=\"soft\">A message is under way, for both its ranks, from when both have posted it until it has "
         "been "
         "received. Hidden is the part of that time in which the rank computed.</p>\n";
}

std::string moved(const TraceFigures& figures) {
  std::vector<std::vector<std::string>> rows{
      {"", "within ranks", "in the node", "messages", "between nodes", "messages"}};
  const auto add = [&rows](std::string name, const RankOverlap& rank) {
    const Traffic& node = rank.traffic.sent_to(PeerClass::node);
    const Traffic& network = rank.traffic.sent_to(PeerClass::network);
    rows.push_back({std::move(name), bytes_text(rank.traffic.sent_to(PeerClass::self).bytes), bytes_text(node.bytes),
                    fmt::format("{}", node.messages), bytes_text(network.bytes), fmt::format("{}", network.messages)});
  };
  const auto& ranks = figures.overlap.ranks;
  for (std::size_t rank = 0; rank < std::min(ranks.size(), most_rows); ++rank) {
    add(fmt::format("rank {}", rank), ranks[rank]);
  }
  add("all ranks", figures.overlap.sum());
  return "<h2>What was sent</h2>\n" + table(rows);
}

std::string links(const TraceFigures& figures) {
  std::vector<std::vector<std::string>> rows{{"", "out", "", "in", "", "of the link"}};
  for (std::size_t n = 0; n < std::min(figures.overlap.links.size(), most_rows); ++n) {
    const LinkUse& link = figures.overlap.links[n];
    if (link.busy[0] == 0 && link.busy[1] == 0) continue;
    rows.push_back(
        {fmt::format("node {}", n), bytes_text(link.bytes[0]), rate_text(link.bytes[0], seconds(link.busy[0])),
         bytes_text(link.bytes[1]), rate_text(link.bytes[1], seconds(link.busy[1])),
         figures.bits_per_second > 0 ? percent_text(achieved_share(link, figures.bits_per_second), 1) : "-"});
  }
  if (rows.size() == 1) return {};
  return "<h2>The links between nodes</h2>\n" + table(rows) +
         fmt::format(
             "<p class=\"soft\">Bytes over the time in which some of them were on their way: from posting until "
             "receipt. {}</p>\n",
             figures.bits_per_second > 0 ? fmt::format("The share is that of the busier direction, of {}.",
                                                       link_rate_text(figures.bits_per_second))
                                         : "Give the rate of the links with --rate to see what share of it that is.");
}

/// The schedules by label: how often they ran, and how long on the slowest rank.
std::string schedules(const TraceFigures& figures) {
  struct Runs {
    std::size_t runs = 0;
    Nanoseconds longest = 0;
  };
  std::map<std::string, Runs> by_label;
  for (const report::RankTrace& rank : figures.trace.ranks) {
    std::map<std::string, Runs> own;
    for (const TimedRun& run : rank.recording.runs) {
      Runs& runs = own[run.label];
      ++runs.runs;
      runs.longest += run.end - run.begin;
    }
    for (const auto& [label, runs] : own) {
      Runs& all = by_label[label];
      all = {std::max(all.runs, runs.runs), std::max(all.longest, runs.longest)};
    }
  }
  std::vector<std::vector<std::string>> rows{{"", "runs", "on the slowest rank"}};
  for (const auto& [label, runs] : by_label) {
    if (rows.size() > most_rows) break;
    rows.push_back({svg::escaped(label), fmt::format("{}", runs.runs), time_text(runs.longest)});
  }
  return "<h2>The schedules</h2>\n" + table(rows);
}

}  // namespace

std::string trace_page(const TraceFigures& figures, const std::string& command) {
  return page({figures.path, command, summary_of(figures)},
              tiles(figures) + timeline_section(figures.trace, figures.overlap.span) + spent(figures) + moved(figures) +
                  links(figures) + schedules(figures));
}

}  // namespace plait::cli
