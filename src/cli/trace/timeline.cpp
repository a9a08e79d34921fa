#include "cli/trace/timeline.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "plait/report/overlap.hpp"

#include "cli/host/text.hpp"
#include "cli/pictures/axis_plot.hpp"
#include "cli/pictures/page.hpp"
#include "cli/pictures/svg.hpp"

namespace plait::cli {

namespace {

using report::Interval;

struct Communication {
  Interval posted;  // but not under way
  Interval under_way;
  Mark mark;
  int peer = -1;
  Index bytes = 0;

  [[nodiscard]] Nanoseconds begin() const { return std::min(posted.begin, under_way.begin); }
};

using Communications = Lanes<Communication>;

Mark mark_of(PeerClass peer) {
  return peer == PeerClass::self ? Mark::self : peer == PeerClass::node ? Mark::node : Mark::network;
}

Communication end_of(const report::Message& message, const TimedOperation& end, int peer) {
  const Interval under_way = message.under_way();
  return {{end.posting, under_way.begin}, under_way, mark_of(end.peer_class), peer, end.bytes};
}

// Each into the first lane that is free again, or into the last one.
std::vector<Strip> in_lanes(std::vector<Communication> communications, std::size_t most_lanes) {
  std::ranges::sort(communications, {}, &Communication::begin);
  std::vector<Strip> lanes;
  std::vector<Nanoseconds> free_from;
  for (const Communication& each : communications) {
    const auto free = std::ranges::find_if(free_from, [&](Nanoseconds time) { return time <= each.begin(); });
    auto lane = static_cast<std::size_t>(free - free_from.begin());
    if (lane == most_lanes) {
      --lane;
    } else if (lane == lanes.size()) {
      lanes.emplace_back();
      free_from.push_back(0);
    }
    free_from[lane] = std::max(free_from[lane], each.under_way.end);
    lanes[lane].of(Mark::posted).push_back(each.posted);
    lanes[lane].of(each.mark).push_back(each.under_way);
    if (each.peer >= 0) lanes[lane].messages.push_back({each.under_way, each.peer, each.bytes});
  }
  return lanes;
}

void add_own(const Recording& recording, RankStrips& strips, Communications& communications) {
  for (const TimedWork& work : recording.work) {
    const bool combines =
        recording.operations[static_cast<std::size_t>(work.operation)].kind == OperationKind::reduce_local;
    strips.work.of(combines ? Mark::combine : Mark::compute).push_back({work.begin, work.end});
  }
  for (const TimedWait& wait : recording.waits) strips.calls.of(Mark::wait).push_back({wait.begin, wait.end});
  for (const TimedOperation& op : recording.operations) {
    if (op.posting != never && op.posted != never) strips.calls.of(Mark::post).push_back({op.posting, op.posted});
    if (op.ended == never) continue;
    if (op.kind == OperationKind::request) {
      communications.others.push_back({{op.posting, op.posting}, {op.posting, op.ended}, mark_of(op.peer_class)});
    } else if (op.kind == OperationKind::await) {
      communications.others.push_back({{op.eligible, op.ended}, {op.ended, op.ended}, mark_of(op.peer_class)});
    }
  }
}

constexpr int most_drawn_ranks = 64;
constexpr int width = 1200;  // where no script fits it to the window
constexpr int left = 64;     // of time 0
constexpr int right = 60;    // for the last label
constexpr int axis_height = 24;
constexpr int work_height = 20;
constexpr int call_height = 12;
constexpr int lane_height = 10;
constexpr int group_gap = 3;  // before the lanes of each kind
constexpr int rank_gap = 16;
constexpr std::size_t lanes_of_all_ranks = 24;  // of each kind
constexpr std::size_t most_lanes_of_rank = 6;
constexpr int levels = 4;  // of filling

// Pieces of paths take about twelve bytes, messages thirty.
constexpr std::size_t most_coarse_pieces = 80'000;
constexpr std::size_t most_fine_pieces = 120'000;
constexpr std::size_t most_messages = 20'000;

/// The line along each column that the intervals fill, by how much of it they do, as a path for each level.
std::array<std::string, levels + 1> paths_of(const std::vector<report::Interval>& intervals, double per_column,
                                             Index columns) {
  std::array<std::string, levels + 1> paths;
  Index begin = 0;
  Index end = 0;
  int level = 0;
  const auto add = [&](Index from, Index to, int its) {
    if (its == level && from == end) {
      end = to;
      return;
    }
    if (level > 0) paths[static_cast<std::size_t>(level)] += fmt::format("M{} 0h{}", begin, end - begin);
    std::tie(begin, end, level) = std::tuple(from, to, its);
  };
  Index column = 0;
  double filled = 0;  // of the column
  const auto close = [&] {
    if (filled > 0) add(column, column + 1, static_cast<int>(std::ceil(std::min(filled, 1.0) * levels - 1e-6)));
    filled = 0;
  };
  for (const report::Interval& interval : report::united(intervals)) {
    const double from = std::clamp(static_cast<double>(interval.begin) / per_column, 0.0, static_cast<double>(columns));
    const double to = std::clamp(static_cast<double>(interval.end) / per_column, 0.0, static_cast<double>(columns));
    const auto first = static_cast<Index>(from);
    const auto last = static_cast<Index>(to);
    if (first != column) close();
    column = first;
    if (last == first) {
      filled += to - from;
      continue;
    }
    filled += static_cast<double>(first + 1) - from;
    close();
    if (last > first + 1) add(first + 1, last, levels);
    column = last;
    filled = to - static_cast<double>(last);
  }
  close();
  add(columns + 1, columns + 1, 0);
  return paths;
}

/// A strip and where it lies.
struct PlacedStrip {
  const Strip* strip;
  std::string name;
  int top;
  int height;
};

class Drawing {
 public:
  Drawing(const report::Trace& trace, Nanoseconds span) : span_(std::max(span, Nanoseconds{1})) {
    const auto ranks = trace.ranks.size();
    const auto drawn = std::min(ranks, std::size_t{most_drawn_ranks});
    strips_ = strips_of(
        trace, std::clamp(lanes_of_all_ranks / std::max(drawn, std::size_t{1}), std::size_t{1}, most_lanes_of_rank));
    for (std::size_t i = 0; i < drawn; ++i) place(i * ranks / drawn);
    coarse_ = columns_within(most_coarse_pieces, width);
    fine_ = columns_within(most_fine_pieces, std::min(Index{width} << 7, span_));  // of a nanosecond at least
    for (const PlacedStrip& placed : placed_) messages_ += placed.strip->messages.size();
  }

  [[nodiscard]] std::string svg() const {
    std::string bars;
    for (const PlacedStrip& placed : placed_) bars += drawn(placed);
    std::string labels;
    for (const auto& [rank, top] : ranks_) labels += svg::text(0, top + work_height - 5, fmt::format("rank {}", rank));
    return fmt::format(
               "<svg class=\"timeline\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"Timeline of each rank, "
               "over time\" data-span=\"{}\" data-columns=\"{}\">\n<g class=\"axis\">{}</g>\n{}",
               width, bottom_, span_, coarse_, axis(), svg::text(0, 13, "time", "class=\"title\"")) +
           labels +
           fmt::format(
               "<svg class=\"bars\" aria-hidden=\"true\" x=\"{}\" width=\"{}\" height=\"{}\" viewBox=\"0 0 {} {}\" "
               "preserveAspectRatio=\"none\">\n{}</svg>\n</svg>\n",
               left, width - left - right, bottom_, coarse_, bottom_, bars);
  }

 private:
  void place(std::size_t rank) {
    const RankStrips& its = strips_[rank];
    const std::string name = fmt::format("rank {}", rank);
    ranks_.emplace_back(rank, bottom_);
    const auto add = [&](const Strip& strip, const std::string& called, int height) {
      placed_.push_back({&strip, called, bottom_, height});
      bottom_ += height;
    };
    add(its.work, name, work_height);
    add(its.calls, name, call_height);
    for (const auto& [lanes, called] : {std::pair(&its.outgoing, name + " \u2192"),
                                        std::pair(&its.incoming, name + " \u2190"), std::pair(&its.others, name)}) {
      bottom_ += group_gap;
      for (const Strip& lane : *lanes) add(lane, called, lane_height);
    }
    bottom_ += rank_gap;
  }

  /// Of those that double from few on, the most that need no more pieces of paths: an interval has three of them, its
  /// ends and what is between, and a column one.
  [[nodiscard]] Index columns_within(std::size_t most_pieces, Index most) const {
    for (Index columns = most; columns > width / 8; columns /= 2) {
      std::size_t pieces = 0;
      for (const PlacedStrip& placed : placed_) {
        for (const auto& times : placed.strip->times) {
          pieces += std::min(3 * times.size(), static_cast<std::size_t>(columns));
        }
      }
      if (pieces <= most_pieces) return columns;
    }
    return width / 8;
  }

  [[nodiscard]] std::string axis() const {
    const double pixels = static_cast<double>(width - left - right) / static_cast<double>(span_);
    std::string text;
    for (const Tick& tick : ticks_of({"", Scale::linear, 0, static_cast<double>(span_)}, 8)) {
      const double x = left + tick.at * pixels;
      text += fmt::format("<path class=\"grid\" d=\"M{:.1f} 16V{}\"/>", x, bottom_) +
              svg::text(x + 3, 13, seconds_text(tick.at * 1e-9));
    }
    return text;
  }

  [[nodiscard]] std::string drawn(const PlacedStrip& placed) const {
    std::string coarse = paths(*placed.strip, coarse_);
    if (coarse.empty()) return {};
    std::string carried;
    if (messages_ <= most_messages) {
      const double per_column = static_cast<double>(span_) / static_cast<double>(coarse_);
      for (const StripMessage& each : placed.strip->messages) {
        carried += fmt::format("{}{:.6g} {:.6g} {} {}", carried.empty() ? "" : ";",
                               static_cast<double>(each.under_way.begin) / per_column,
                               static_cast<double>(each.under_way.end) / per_column, each.peer, each.bytes);
      }
    }
    return fmt::format(
               "<g data-strip=\"{}\"{} transform=\"translate(0,{})\" stroke-width=\"{}\"><g class=\"coarse\">{}"
               "</g>",
               placed.name, carried.empty() ? "" : fmt::format(" data-messages=\"{}\"", carried),
               placed.top + placed.height / 2.0, placed.height - 1, coarse) +
           (fine_ <= coarse_
                ? std::string()
                : fmt::format("<g class=\"fine\" transform=\"scale({},1)\" visibility=\"hidden\">{}</g>",
                              static_cast<double>(coarse_) / static_cast<double>(fine_), paths(*placed.strip, fine_))) +
           "</g>\n";
  }

  [[nodiscard]] std::string paths(const Strip& strip, Index columns) const {
    std::string result;
    for (const Mark mark : marks) {
      const auto by_level =
          paths_of(strip.of(mark), static_cast<double>(span_) / static_cast<double>(columns), columns);
      for (int level = 1; level <= levels; ++level) {
        const std::string& path = by_level[static_cast<std::size_t>(level)];
        if (path.empty()) continue;
        const std::string faint = level == levels ? "" : fmt::format(" opacity=\".{:02}\"", 100 * level / levels);
        result += fmt::format("<path class=\"{}\"{} d=\"{}\"/>", name(mark), faint, path);
      }
    }
    return result;
  }

  Nanoseconds span_;
  std::vector<RankStrips> strips_;
  std::vector<PlacedStrip> placed_;
  std::vector<std::pair<std::size_t, int>> ranks_;  // that are drawn, and where
  int bottom_ = axis_height;
  Index coarse_ = 0;
  Index fine_ = 0;
  std::size_t messages_ = 0;
};

}  // namespace

std::vector<RankStrips> strips_of(const report::Trace& trace, std::size_t most_lanes) {
  std::vector<RankStrips> result(trace.ranks.size());
  std::vector<Communications> communications(trace.ranks.size());
  for (const report::Message& message : report::messages_of(trace)) {
    const auto from = static_cast<std::size_t>(message.from);
    const auto to = static_cast<std::size_t>(message.to);
    if (message.send != nullptr) communications[from].outgoing.push_back(end_of(message, *message.send, message.to));
    if (message.receive != nullptr)
      communications[to].incoming.push_back(end_of(message, *message.receive, message.from));
  }
  for (std::size_t rank = 0; rank < result.size(); ++rank) {
    add_own(trace.ranks[rank].recording, result[rank], communications[rank]);
    result[rank].outgoing = in_lanes(std::move(communications[rank].outgoing), most_lanes);
    result[rank].incoming = in_lanes(std::move(communications[rank].incoming), most_lanes);
    result[rank].others = in_lanes(std::move(communications[rank].others), most_lanes);
  }
  return result;
}

std::string timeline_section(const report::Trace& trace, Nanoseconds span, std::string_view what) {
  std::string text = "<div>\n<h2>Timeline</h2>\n";
  if (!what.empty()) text += fmt::format("<p>{}</p>\n", what);
  text += "<p>" + key("compute", "computing") + key("combine", "combining operands") + key("post", "posting") +
          key("wait", "waiting") + key("network", "under way between nodes") + key("node", "under way within a node") +
          key("self", "to itself") + key("posted", "posted, not under way") +
          "</p>\n<p class=\"soft\">Rows of a rank, from above: computation; calls of MPI that post, and waiting with "
          "nothing to do; messages sent, a lane for each that was under way at the same time as others; messages "
          "received; requests of MPI and flags. Fainter: only part of the time that a pixel stands for.";
  if (const auto ranks = trace.ranks.size(); ranks > most_drawn_ranks) {
    text += fmt::format(" {} of {} ranks are drawn, at even distances.", most_drawn_ranks, ranks);
  }
  return text +
         " Drag over a time to see it alone; Ctrl and the wheel zoom, Shift and the wheel move.</p>\n"
         "<button type=\"button\">All of the time</button>\n" +
         Drawing(trace, span).svg() + "</div>\n";
}

}  // namespace plait::cli
