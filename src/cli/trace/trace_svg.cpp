#include "cli/trace/trace_svg.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "cli/output/quantities.hpp"
#include "cli/trace/trace_strips.hpp"

namespace plait::cli {

namespace {

constexpr int columns = 1200;
constexpr int left = 74;  // of column 0
constexpr int axis_height = 22;
constexpr int work_height = 14;
constexpr int call_height = 6;
constexpr int lane_height = 5;
constexpr int group_gap = 2;  // before the lanes of each kind
constexpr int rank_gap = 12;
constexpr std::size_t lanes_of_all_ranks = 24;  // of each kind
constexpr std::size_t most_lanes_of_rank = 6;
constexpr int levels = 4;  // of filling

/// What share of each column the intervals fill, in `levels` steps.
std::array<unsigned char, columns> filling(std::span<const report::Interval> intervals, double nanoseconds_per_column) {
  std::array<double, columns> filled{};
  for (const report::Interval& interval : intervals) {
    const double begin = std::clamp(static_cast<double>(interval.begin) / nanoseconds_per_column, 0.0, double{columns});
    const double end = std::clamp(static_cast<double>(interval.end) / nanoseconds_per_column, 0.0, double{columns});
    for (double at = begin; at < end;) {
      const double next = std::min(end, std::floor(at) + 1);
      filled[static_cast<std::size_t>(at)] += next - at;
      at = next;
    }
  }
  std::array<unsigned char, columns> result{};
  std::ranges::transform(filled, result.begin(), [](double share) {
    return static_cast<unsigned char>(std::ceil(std::min(share, 1.0) * levels - 1e-6));
  });
  return result;
}

class Drawing {
 public:
  explicit Drawing(Nanoseconds span)
      : nanoseconds_per_column_(static_cast<double>(std::max(span, Nanoseconds{1})) / columns) {}

  void axis(Nanoseconds span, int bottom) {
    const double rough = static_cast<double>(std::max(span, Nanoseconds{1})) / 8;
    const double power = std::pow(10, std::floor(std::log10(rough)));
    double step = power;
    for (const double factor : {2.0, 5.0, 10.0}) {
      if (step < rough) step = factor * power;
    }
    text_ += "<text class=\"title\" x=\"0\" y=\"12\">time</text>\n";
    const auto lines = static_cast<Index>(static_cast<double>(span) / step);
    for (Index line = 0; line <= lines; ++line) {
      const double time = static_cast<double>(line) * step;
      const double x = left + time / nanoseconds_per_column_;
      text_ += fmt::format("<path class=\"grid\" d=\"M{:.1f} {}V{}\"/><text x=\"{:.1f}\" y=\"12\">{}</text>\n", x,
                           axis_height - 6, bottom, x + 3, seconds_text(time * 1e-9));
    }
  }

  void label(int y, std::string_view words) { text_ += fmt::format("<text x=\"0\" y=\"{}\">{}</text>\n", y, words); }

  void strip(const Strip& strip, int top, int height) {
    std::string paths;
    for (const Mark mark : marks) {
      if (!strip.of(mark).empty()) paths += paths_of(mark, strip.of(mark));
    }
    if (paths.empty()) return;
    text_ += fmt::format("<g transform=\"translate({},{})\" stroke-width=\"{}\">{}</g>\n", left, top + height / 2.0,
                         height - 1, paths);
  }

  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  // Neighbours of one level become one line.
  [[nodiscard]] std::string paths_of(Mark mark, std::span<const report::Interval> intervals) const {
    const auto filled = filling(intervals, nanoseconds_per_column_);
    std::string result;
    for (int level = 1; level <= levels; ++level) {
      std::string path;
      for (int begin = 0; begin < columns;) {
        int end = begin;
        while (end < columns && filled[static_cast<std::size_t>(end)] == level) ++end;
        if (end > begin) path += fmt::format("M{} 0h{}", begin, end - begin);
        begin = end + 1;
      }
      if (path.empty()) continue;
      const std::string faint = level == levels ? "" : fmt::format(" opacity=\".{:02}\"", 100 * level / levels);
      result += fmt::format("<path class=\"{}\"{} d=\"{}\"/>", name(mark), faint, path);
    }
    return result;
  }

  double nanoseconds_per_column_;
  std::string text_;
};

int height_of(const RankStrips& rank) {
  const auto lanes = static_cast<int>(rank.outgoing.size() + rank.incoming.size() + rank.others.size());
  return work_height + call_height + 3 * group_gap + lanes * lane_height + rank_gap;
}

void draw(Drawing& drawing, const RankStrips& strips, int rank, int top) {
  drawing.label(top + work_height - 3, fmt::format("rank {}", rank));
  drawing.strip(strips.work, top, work_height);
  int y = top + work_height;
  drawing.strip(strips.calls, y, call_height);
  y += call_height;
  for (const auto* lanes : {&strips.outgoing, &strips.incoming, &strips.others}) {
    y += group_gap;
    for (const Strip& lane : *lanes) {
      drawing.strip(lane, y, lane_height);
      y += lane_height;
    }
  }
}

}  // namespace

std::string timeline_svg(const report::Trace& trace, Nanoseconds span) {
  const auto ranks = trace.ranks.size();
  const auto drawn = std::min(ranks, std::size_t{most_drawn_ranks});
  const std::size_t lanes =
      std::clamp(lanes_of_all_ranks / std::max(drawn, std::size_t{1}), std::size_t{1}, most_lanes_of_rank);
  const std::vector<RankStrips> strips = strips_of(trace, lanes);

  std::vector<std::size_t> chosen;
  int height = axis_height;
  for (std::size_t i = 0; i < drawn; ++i) {
    chosen.push_back(i * ranks / drawn);
    height += height_of(strips[chosen.back()]);
  }
  Drawing drawing(span);
  drawing.axis(span, height);
  int top = axis_height;
  for (const std::size_t rank : chosen) {
    draw(drawing, strips[rank], static_cast<int>(rank), top);
    top += height_of(strips[rank]);
  }
  return fmt::format(
      "<svg class=\"timeline\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"Timeline of each rank, over "
      "time\">\n{}</svg>\n",
      left + columns + 60, height, drawing.take());
}

}  // namespace plait::cli
