#include <map>

#include "plait/report/overlap.hpp"

#include "cli/host/job.hpp"
#include "cli/pictures/page.hpp"
#include "cli/pictures/svg.hpp"
#include "cli/trace/timeline.hpp"
#include "cli/trace/trace_file.hpp"

namespace plait::cli {

namespace {

using nlohmann::ordered_json;
using report::LinkUse;
using report::RankOverlap;

constexpr std::size_t most_rows = 256;  // of a table; of more ranks the first ones

/// A trace and what was computed from it.
struct TraceFigures {
  report::Trace trace;
  report::Overlap overlap;
  double bits_per_second = 0;  // of the links, 0 where it is unknown

  [[nodiscard]] int nodes() const noexcept { return static_cast<int>(overlap.links.size()); }
  [[nodiscard]] Index runs() const noexcept {  // of the rank with most
    std::size_t most = 0;
    for (const report::RankTrace& rank : trace.ranks) most = std::max(most, rank.recording.runs.size());
    return static_cast<Index>(most);
  }
  [[nodiscard]] Index lost() const noexcept {  // entries of all ranks
    Index sum = 0;
    for (const report::RankTrace& rank : trace.ranks) sum += rank.recording.lost;
    return sum;
  }
};

std::string time_text(Nanoseconds time) { return seconds_text(seconds(time)); }
std::string share_text(Nanoseconds part, Nanoseconds whole) {
  return percent_text(static_cast<double>(part), static_cast<double>(whole));
}
std::string share_with_time(Nanoseconds part, Nanoseconds whole) {
  return fmt::format("{} ({})", share_text(part, whole), time_text(part));
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

std::string link_rates_text(const TraceFigures& figures) {
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

/// A row for each rank, and one for all.
template <class Cells>
std::string ranks_table(const TraceFigures& figures, std::vector<std::string> head, const Cells& cells) {
  std::vector<std::vector<std::string>> rows{std::move(head)};
  const auto add = [&](std::string name, const RankOverlap& rank) {
    std::vector<std::string>& row = rows.emplace_back(cells(rank));
    row.insert(row.begin(), std::move(name));
  };
  const auto& ranks = figures.overlap.ranks;
  for (std::size_t rank = 0; rank < std::min(ranks.size(), most_rows); ++rank) {
    add(fmt::format("rank {}", rank), ranks[rank]);
  }
  add("all ranks", figures.overlap.sum());
  return table(rows);
}

std::string times_table(const TraceFigures& figures) {
  const auto cells = [](const RankOverlap& rank) -> std::vector<std::string> {
    return {bar(rank),
            time_text(rank.computing),
            time_text(rank.posting),
            time_text(rank.waiting),
            time_text(rank.rest()),
            time_text(rank.running),
            time_text(rank.under_way),
            share_text(rank.hidden, rank.under_way)};
  };
  return "<h2>How the time was spent</h2>\n<p>" + key("compute", "computing") + key("post", "posting") +
         key("wait", "waiting") + key("rest", "rest: looking at the network, the program itself") + "</p>\n" +
         ranks_table(figures, {"", "", "computing", "posting", "waiting", "rest", "of", "communicating", "hidden"},
                     cells) +
         "<p class=\"soft\">A message is under way, for both its ranks, from when both have posted it until it has "
         "been received. Hidden is the part of that time in which the rank computed.</p>\n";
}

std::string traffic_table(const TraceFigures& figures) {
  const auto cells = [](const RankOverlap& rank) -> std::vector<std::string> {
    const Traffic& node = rank.traffic.sent_to(PeerClass::node);
    const Traffic& network = rank.traffic.sent_to(PeerClass::network);
    return {bytes_text(rank.traffic.sent_to(PeerClass::self).bytes), bytes_text(node.bytes),
            fmt::format("{}", node.messages), bytes_text(network.bytes), fmt::format("{}", network.messages)};
  };
  return "<h2>What was sent</h2>\n" +
         ranks_table(figures, {"", "within ranks", "in the node", "messages", "between nodes", "messages"}, cells);
}

std::string links_table(const TraceFigures& figures) {
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
std::string schedules_table(const TraceFigures& figures) {
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

/// What overlapped in a trace.
class TraceJob : public LoneJob {
 public:
  void options(Options& options) override {
    options.describe("Analyse a trace that --trace has written: what overlapped",
                     R"(No launcher is needed. ui.perfetto.dev and chrome://tracing open the same file.

Example:
  mpirun -n 4 plait redistribute B.npy -o A.npy --op transpose --to blocks@2x2 --trace t.json
  plait trace t.json --report t.html)");
    options.reads("IN", input_, "The trace", "FILE.json")->required();
    add_value(options, "--rate", bits_per_second_, parse_link_rate, "RATE",
              "Of a node's link, in bits per second, such as 1gbit; by default that of the trace, if it has one");
    options.host({.machine = false, .page = "the timeline of each rank and all figures", .progress = false});
  }

  void run(Report& report) override {
    if (!settings.page.empty()) io::AsideFile::expect_replaceable(settings.page);
    TraceFigures figures{read_trace_file(input_), {}, bits_per_second_};
    figures.overlap = report::overlap_of(figures.trace);
    if (figures.bits_per_second == 0) figures.bits_per_second = figures.trace.link_bits_per_second;
    const std::string size = fmt::format(
        "{} on {}, {} in {}", counted(report.fact("ranks", static_cast<Index>(figures.trace.ranks.size())), "rank"),
        counted(report.fact("nodes", figures.nodes()), "node"), counted(report.fact("runs", figures.runs()), "run"),
        seconds_text(report.fact("seconds", seconds(figures.overlap.span))));
    summarise(report, figures, size);
    if (settings.page.empty()) return;
    draw(report, figures, size);
    text_aside(settings.page, report.page()).publish();
  }

 private:
  void summarise(Report& report, const TraceFigures& figures, const std::string& size) const {
    const RankOverlap all = figures.overlap.sum();
    report.head(input_ + ": " + size);
    report.fact("hidden_share", all.under_way > 0 ? std::optional(figures.overlap.hidden_share()) : std::nullopt);
    report.line("overlap", all.under_way > 0
                               ? fmt::format("{} of {} of communication hidden", share_text(all.hidden, all.under_way),
                                             time_text(all.under_way))
                               : "nothing to hide: ranks exchanged nothing, or by the memory of their node");
    report.line("spent", "computing {}, posting {}, waiting {}, rest {}", share_with_time(all.computing, all.running),
                share_with_time(all.posting, all.running), share_with_time(all.waiting, all.running),
                share_with_time(all.rest(), all.running));
    report.line("sent", traffic_text(all.traffic));
    if (const std::string links = link_rates_text(figures); !links.empty()) report.line("links", links);
    const double clock_error = report.fact("clock_error_seconds", seconds(figures.trace.clock_error));
    if (figures.nodes() > 1) report.line("clocks", "agree to {}", seconds_text(clock_error));
    if (const Index lost = report.fact("lost", figures.lost()); lost > 0) {
      report.line("lost", "{} for lack of memory", lost == 1 ? "1 entry" : fmt::format("{} entries", lost));
    }
    const double rate = figures.bits_per_second;
    report.fact("link_bits_per_second", rate > 0 ? std::optional(rate) : std::nullopt);
    report.fact("all_ranks", rank_json(all));
    ordered_json ranks = ordered_json::array();
    for (const RankOverlap& rank : figures.overlap.ranks) ranks.push_back(rank_json(rank));
    report.fact("per_rank", ranks);
    ordered_json links = ordered_json::array();
    for (const LinkUse& link : figures.overlap.links) links.push_back(link_json(link, rate));
    report.fact("links", links);
  }

  void draw(Report& report, const TraceFigures& figures, std::string size) const {
    if (figures.nodes() > 1)
      size += fmt::format("; the nodes' clocks agree to {}", time_text(figures.trace.clock_error));
    if (figures.lost() > 0) {
      size += fmt::format(". For lack of memory {} not recorded, so the figures are not those of all runs.",
                          figures.lost() == 1 ? "1 entry was" : fmt::format("{} entries were", figures.lost()));
    }
    report.page_head(input_, size);
    const RankOverlap all = figures.overlap.sum();
    if (all.under_way > 0) {
      report.tile(share_text(all.hidden, all.under_way), "of the communication hidden under computation");
    }
    report.tile(share_text(all.computing, all.running), "of the time computing");
    report.tile(fmt::format("{} : {}", share_text(all.posting, all.running), share_text(all.waiting, all.running)),
                "posting : waiting");
    double best = 0;
    for (const LinkUse& link : figures.overlap.links) {
      best = std::max(best, achieved_share(link, figures.bits_per_second));
    }
    if (best > 0) {
      report.tile(percent_text(best, 1),
                  fmt::format("of a link of {} achieved, on the best node", link_rate_text(figures.bits_per_second)));
    }
    report.section(timeline_section(figures.trace, figures.overlap.span));
    for (const auto table : {times_table, traffic_table, links_table, schedules_table}) report.section(table(figures));
  }

  std::string input_;
  double bits_per_second_ = 0;  // 0: as the trace says
};

}  // namespace

PLAIT_JOB(trace, TraceJob)

}  // namespace plait::cli
