#include "cli/redistribute/communication_plot.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "cli/output/quantities.hpp"
#include "cli/output/text_aside.hpp"
#include "cli/pictures/matrix_picture.hpp"
#include "cli/pictures/script.hpp"
#include "cli/pictures/svg.hpp"

namespace plait::cli {

namespace {

constexpr double side = 380;  // of a picture
constexpr double left = 80;
constexpr double top = 88;
constexpr double gap = 90;
constexpr double scale_width = 150;

/// What moves is positive, what stays negative.
struct Volume {
  MatrixPicture picture;
  Index moved = 0;
};

Volume volume_of(redistribute::Incoming& incoming, int ranks, std::span<const int> rank_of) {
  Volume volume{MatrixPicture({ranks, ranks})};
  for (int role = 0; role < incoming.ranks(); ++role) {
    const int to = rank_of.empty() ? role : rank_of[static_cast<std::size_t>(role)];
    for (const auto& [from, package] : incoming.of(role)) {
      const auto bytes = static_cast<double>(package.bytes);
      volume.picture.add_up(from, to, from == to ? -bytes : bytes);
      if (from != to) volume.moved += package.bytes;
    }
  }
  return volume;
}

}  // namespace

void write_communication_plot(const std::string& path, std::string_view heading, std::string_view command,
                              redistribute::Incoming& incoming, int ranks, std::span<const int> rank_of) {
  std::vector<std::string> titles{"Volume between ranks"};
  std::vector<Volume> volumes{volume_of(incoming, ranks, {})};
  if (!rank_of.empty()) {
    titles = {"Before relabeling", "After relabeling"};
    volumes.push_back(volume_of(incoming, ranks, rank_of));
  }
  std::vector<MatrixPicture> pictures;
  for (const Volume& volume : volumes) pictures.push_back(volume.picture);
  const Shading shading(pictures);
  const CellWords words{.down = "from rank",
                        .across = "to rank",
                        .positive = "moves",
                        .negative = "stays on its rank",
                        .number = [](double bytes) { return bytes_text(static_cast<Index>(std::abs(bytes))); }};
  std::string text;
  for (std::size_t i = 0; i < volumes.size(); ++i) {
    const double x = left + static_cast<double>(i) * (side + gap);
    text += svg::text(x + side / 2, top - 28, titles[i], "class=\"heading\" text-anchor=\"middle\"") +
            svg::text(x + side / 2, top - 10, bytes_text(volumes[i].moved) + " move", "text-anchor=\"middle\"") +
            cells_svg(pictures[i], shading, words, x, top, side, side);
  }
  const double right = left + static_cast<double>(volumes.size()) * (side + gap);
  const double width = right - gap + scale_width;
  text += scale_svg(shading, words, right - gap + 28, top);
  double bottom = top + side + 44;
  const auto note = [&](std::string_view line) { text += svg::text(16, bottom += 16, line, "class=\"small\""); };
  if (ranks > MatrixPicture::most_cells) note("A square is the sum over neighbouring ranks.");
  const std::string line = fmt::format("plait {}: {}", PLAIT_VERSION, command);
  const auto fits = static_cast<std::size_t>(width / 6.8);  // letters
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t space = at + fits < line.size() ? line.rfind(' ', at + fits) : std::string::npos;
    const std::size_t end = space == std::string::npos || space <= at ? at + fits : space + 1;
    note(std::string_view(line).substr(at, end - at));
    at = end;
  }
  text += fmt::format("<script><![CDATA[{}]]></script>\n", script);
  text_aside(path, svg::file(width, bottom + 12, heading, text)).publish();
}

}  // namespace plait::cli
