#include "cli/pictures/svg.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace plait::cli::svg {

namespace {

std::string as_utf8(std::string_view text) {
  using nlohmann::json;
  return json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace)).get<std::string>();
}

std::string closed(std::string_view name, std::string_view hover) {
  return hover.empty() ? "/>\n" : fmt::format("><title>{}</title></{}>\n", escaped(hover), name);
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : as_utf8(text)) {
    if (static_cast<unsigned char>(c) < ' ') {
      result += "\uFFFD";
      continue;
    }
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

std::string text(double x, double y, std::string_view words, std::string_view attributes) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, attributes, escaped(words));
}

std::string line(double x1, double y1, double x2, double y2, std::string_view attributes) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1, y1, x2, y2,
                     attributes);
}

std::string rectangle(double x, double y, double width, double height, std::string_view attributes,
                      std::string_view hover) {
  return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" {}{}", x, y, width, height,
                     attributes, closed("rect", hover));
}

std::string circle(double x, double y, double radius, std::string_view attributes, std::string_view hover) {
  return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.2g}\" {}{}", x, y, radius, attributes,
                     closed("circle", hover));
}

std::string key(double x, double y, std::string_view mark, std::string_view words) {
  return rectangle(x, y, 12, 12, fmt::format("class=\"{}\"", mark)) + text(x + 18, y + 11, words);
}

std::string axis_titles(double left, double top, double right, double bottom, double baseline, std::string_view across,
                        std::string_view up) {
  return text((left + right) / 2, baseline, across, "class=\"title\" text-anchor=\"middle\"") +
         fmt::format(
             "<text class=\"title\" transform=\"translate({:.1f},{:.1f}) rotate(-90)\" "
             "text-anchor=\"middle\">{}</text>\n",
             left - 60, (top + bottom) / 2, escaped(up));
}

std::string opening(std::string_view mark, double width, double height, std::string_view words) {
  return fmt::format("<svg class=\"{}\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{}\">\n", mark, width,
                     height, escaped(words));
}

std::string file(double width, double height, std::string_view heading, std::string_view elements) {
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\">\n"
             "<style>{2}</style>\n<rect width=\"100%\" height=\"100%\" class=\"paper\"/>\n",
             width, height, style) +
         text(16, 26, heading, "class=\"heading\"") + std::string(elements) + "</svg>\n";
}

}  // namespace plait::cli::svg
