#include "cli/trace_page.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/link_rate.hpp"
#include "cli/quantities.hpp"
#include "cli/trace_svg.hpp"

namespace plait::cli {

namespace {

using report::LinkUse;
using report::RankOverlap;

constexpr std::size_t most_rows = 256;  // of a table; of more ranks the first ones

constexpr std::string_view style = R"(
:root { color-scheme: light dark; --page: #fcfcfb; --text: #1d1d1b; --soft: #6b6b66; --line: #e2e1dc;
  --compute: #2a6fc9; --combine: #12908a; --post: #c8394b; --wait: #b9b8b2; --rest: #e6e5e0;
  --network: #c77700; --node: #7d56c2; --self: #5d8a3c; }
@media (prefers-color-scheme: dark) { :root { --page: #191918; --text: #ecebe6; --soft: #a3a29b; --line: #3a3936;
  --compute: #5c9df0; --combine: #35bdb5; --post: #f0697a; --wait: #66655f; --rest: #33322f;
  --network: #f0a63a; --node: #ab8bea; --self: #8fbf6b; } }
body { margin: 2rem auto; padding: 0 1.5rem; max-width: 1400px; background: var(--page); color: var(--text);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1.1rem; margin: 2rem 0 .4rem; }
p { margin: .3rem 0; max-width: 60rem; } .soft { color: var(--soft); }
.tiles { display: flex; flex-wrap: wrap; gap: 1rem 3rem; margin: 1.2rem 0; }
.tiles b { display: block; font-size: 1.7rem; font-weight: 600; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .15rem .9rem .15rem 0; text-align: right; border-bottom: 1px solid var(--line); }
th { font-weight: 600; color: var(--soft); } th:first-child, td:first-child { text-align: left; }
.scroll { overflow-x: auto; } svg { display: block; width: 100%; }
svg text { font: 11px system-ui, sans-serif; fill: var(--soft); } svg path { fill: none; }
svg .grid { stroke: var(--line); stroke-width: 1; } .bar { width: 360px; height: 12px; }
.compute { stroke: var(--compute); } .combine { stroke: var(--combine); } .post { stroke: var(--post); }
.wait { stroke: var(--wait); } .rest { stroke: var(--rest); } .network { stroke: var(--network); }
.node { stroke: var(--node); } .self { stroke: var(--self); } .posted { stroke: var(--line); }
.key { display: inline-block; margin-right: 1.2rem; } .key svg { display: inline-block; width: 1.1em; height: .7em; }
)";

constexpr double seconds(Nanoseconds time) { return static_cast<double>(time) * 1e-9; }
std::string time_text(Nanoseconds time) { return seconds_text(seconds(time)); }
std::string share_text(Nanoseconds part, Nanoseconds whole) {
  return percent_text(static_cast<double>(part), static_cast<double>(whole));
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      default: result += c;
    }
  }
  return result;
}

std::string key(std::string_view mark, std::string_view words) {
  return fmt::format(
      "<span class=\"key\"><svg viewBox=\"0 0 11 7\"><path class=\"{}\" stroke-width=\"7\" d=\"M0 3.5h11\"/></svg> "
      "{}</span>\n",
      mark, words);
}

std::string tile(std::string_view number, std::string_view words) {
  return fmt::format("<div><b>{}</b>{}</div>\n", number, words);
}

/// A table of rows of cells, the first row its head.
std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::string text = "<div class=\"scroll\"><table>\n";
  for (std::size_t r = 0; r < rows.size(); ++r) {
    text += "<tr>";
    for (const std::string& cell : rows[r]) text += fmt::format("<{0}>{1}</{0}>", r == 0 ? "th" : "td", cell);
    text += "</tr>\n";
  }
  return text + "</table></div>\n";
}

std::string head(const TraceFigures& figures) {
  std::string text =
      fmt::format("<h1>{} on {}</h1>\n<p class=\"soft\">{}: {} in {}",
                  counted(static_cast<Index>(figures.trace.ranks.size()), "rank"), counted(figures.nodes(), "node"),
                  escaped(figures.path), counted(figures.runs(), "run"), time_text(figures.overlap.span));
  if (figures.nodes() > 1) text += fmt::format("; the nodes' clocks agree to {}", time_text(figures.trace.clock_error));
  text += "</p>\n";
  if (figures.lost() > 0) {
    text += fmt::format("<p>For lack of memory {} not recorded, so the figures are not those of all runs.</p>\n",
                        figures.lost() == 1 ? "1 entry was" : fmt::format("{} entries were", figures.lost()));
  }
  return text;
}

std::string tiles(const TraceFigures& figures) {
  const RankOverlap all = figures.overlap.sum();
  std::string text = "<div class=\"tiles\">\n";
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

std::string timeline(const TraceFigures& figures) {
  std::string text = "<h2>Timeline</h2>\n<p>";
  text += key("compute", "computing") + key("combine", "combining operands") + key("post", "posting") +
          key("wait", "waiting") + key("network", "under way between nodes") + key("node", "within a node") +
          key("self", "to itself") + key("posted", "posted, not under way");
  text +=
      "</p>\n<p class=\"soft\">Of each rank: what it computed; when it was in calls of MPI that post, and when it "
      "waited "
      "with nothing to do; what it sent, a lane for each message that was under way at the same time as others; what "
      "it "
      "received; requests of MPI and flags. Fainter: only part of the time that a pixel stands for.";
  if (const auto ranks = figures.trace.ranks.size(); ranks > most_drawn_ranks) {
    text += fmt::format(" {} of {} ranks are drawn, at even distances.", most_drawn_ranks, ranks);
  }
  return text + "</p>\n" + timeline_svg(figures.trace, figures.overlap.span);
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
  return "<svg class=\"bar\" viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" stroke-width=\"10\">" + paths +
         "</svg>";
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
    rows.push_back({escaped(label), fmt::format("{}", runs.runs), time_text(runs.longest)});
  }
  return "<h2>The schedules</h2>\n" + table(rows);
}

}  // namespace

std::string trace_page(const TraceFigures& figures) {
  return fmt::format(
             "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
             "content=\"width=device-width\">\n<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n",
             escaped(figures.path), style) +
         head(figures) + tiles(figures) + timeline(figures) + spent(figures) + moved(figures) + links(figures) +
         schedules(figures) + "</body>\n</html>\n";
}

}  // namespace plait::cli
