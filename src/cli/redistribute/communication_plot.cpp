#include "cli/redistribute/communication_plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "cli/output/quantities.hpp"
#include "cli/output/text_aside.hpp"

namespace plait::cli {

namespace {

constexpr int most_squares = 100;  // along a side
constexpr double side = 380;       // of a picture, in pixels
constexpr double margin = 54;
constexpr double gap = 60;
constexpr std::array sent_colors{"#ffffff", "#e3eef9", "#c7dcf0", "#9ac8e1",
                                 "#65aad3", "#3787c0", "#1764ab", "#083d7a"};
constexpr std::array kept_colors{"#ffffff", "#fdeadb", "#fdd5ad", "#fdb97d",
                                 "#fd9a4e", "#f2741b", "#d35400", "#8b3703"};

/// Bytes of a square, sent from rank to rank and kept.
struct Square {
  Index sent = 0;
  Index kept = 0;
};

class VolumePicture {
 public:
  VolumePicture(redistribute::Incoming& incoming, int ranks, std::span<const int> rank_of)
      : squares_(std::min(ranks, most_squares)),
        data_(static_cast<std::size_t>(squares_) * static_cast<std::size_t>(squares_)) {
    for (int role = 0; role < incoming.ranks(); ++role) {
      const int to = rank_of.empty() ? role : rank_of[static_cast<std::size_t>(role)];
      for (const auto& [from, package] : incoming.of(role)) {
        Square& square = at(place(from, ranks), place(to, ranks));
        (from == to ? square.kept : square.sent) += package.bytes;
      }
    }
    for (const Square& square : data_) {
      most_ = std::max({most_, square.sent, square.kept});
      sent_ += square.sent;
    }
  }

  [[nodiscard]] Index most() const { return most_; }
  [[nodiscard]] Index sent() const { return sent_; }

  // Neighbours of one color become one rectangle.
  [[nodiscard]] std::string svg(double left, double top, Index most) const {
    const double width = side / squares_;
    std::string text;
    for (int row = 0; row < squares_; ++row) {
      for (int begin = 0; begin < squares_;) {
        const std::string_view fill = color(at(row, begin), most);
        int end = begin + 1;
        while (end < squares_ && color(at(row, end), most) == fill) ++end;
        if (fill != sent_colors.front()) {
          text += fmt::format("<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\"/>\n",
                              left + begin * width, top + row * width, (end - begin) * width, width, fill);
        }
        begin = end;
      }
    }
    return text + fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#444\"/>\n",
                              left, top, side, side);
  }

 private:
  [[nodiscard]] int place(int rank, int ranks) const { return static_cast<int>(Index{rank} * squares_ / ranks); }
  [[nodiscard]] std::size_t place_of(int row, int column) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(squares_) + static_cast<std::size_t>(column);
  }
  Square& at(int row, int column) { return data_[place_of(row, column)]; }
  [[nodiscard]] const Square& at(int row, int column) const { return data_[place_of(row, column)]; }

  // By the root, so that little can be told from nothing.
  static std::string_view color(const Square& square, Index most) {
    const Index bytes = std::max(square.sent, square.kept);
    if (bytes == 0 || most == 0) return sent_colors.front();
    const double share = std::sqrt(static_cast<double>(bytes) / static_cast<double>(most));
    constexpr auto levels = static_cast<double>(sent_colors.size() - 1);
    const auto level = static_cast<std::size_t>(std::clamp(std::ceil(share * levels), 1.0, levels));
    return (square.kept > square.sent ? kept_colors : sent_colors)[level];
  }

  int squares_;
  std::vector<Square> data_;
  Index most_ = 0;
  Index sent_ = 0;
};

std::string label(double x, double y, std::string_view anchor, std::string_view words, int size = 13) {
  return fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\" font-size=\"{}\">{}</text>\n", x, y, anchor, size,
                     words);
}

std::string framed(const VolumePicture& picture, double left, std::string_view title, int ranks, Index most) {
  std::string text = label(left + side / 2, margin - 30, "middle", title, 15);
  text += label(left + side / 2, margin - 10, "middle", fmt::format("{} move", bytes_text(picture.sent())));
  text += picture.svg(left, margin, most);
  text += label(left, margin + side + 18, "middle", "0");
  text += label(left + side, margin + side + 18, "middle", fmt::format("{}", ranks - 1));
  text += label(left + side / 2, margin + side + 18, "middle", "to rank");
  text += fmt::format(
      "<text transform=\"translate({},{}) rotate(-90)\" text-anchor=\"middle\" font-size=\"13\">from rank</text>\n",
      left - 10, margin + side / 2);
  return text;
}

std::string legend(double left, double top, const std::array<const char*, 8>& colors, std::string_view words) {
  std::string text;
  for (std::size_t level = 1; level < colors.size(); ++level) {
    text += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"16\" height=\"12\" fill=\"{}\"/>\n",
                        left + static_cast<double>(level - 1) * 16, top, colors[level]);
  }
  return text + label(left + 120, top + 11, "start", words);
}

}  // namespace

void write_communication_plot(const std::string& path, redistribute::Incoming& incoming, int ranks,
                              std::span<const int> rank_of) {
  const VolumePicture before(incoming, ranks, {});
  std::vector<VolumePicture> pictures{before};
  if (!rank_of.empty()) pictures.emplace_back(incoming, ranks, rank_of);
  Index most = 0;
  for (const VolumePicture& picture : pictures) most = std::max(most, picture.most());

  const double width = margin + static_cast<double>(pictures.size()) * (side + gap);
  const double height = margin + side + 76;
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
      "font-family=\"sans-serif\" shape-rendering=\"crispEdges\">\n<rect width=\"100%\" height=\"100%\" "
      "fill=\"white\"/>\n",
      width, height);
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    const char* title = pictures.size() == 1 ? "Volume between ranks"
                        : i == 0             ? "Before relabeling"
                                             : "After relabeling";
    text += framed(pictures[i], margin + static_cast<double>(i) * (side + gap), title, ranks, most);
  }
  const double line = margin + side + 40;
  text += legend(margin, line, sent_colors,
                 fmt::format("sent; darkest: {}{}", bytes_text(most),
                             ranks > most_squares ? " for a square of several ranks" : ""));
  text += legend(margin, line + 18, kept_colors, "stays on its rank");
  text += "</svg>\n";

  text_aside(path, text).publish();
}

}  // namespace plait::cli
