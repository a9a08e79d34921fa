#include "bench/harness/svg.hpp"

#include <fmt/format.h>

namespace plait::bench::svg {

namespace {

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '&': result += "&amp;"; break;
      default: result += c;
    }
  }
  return result;
}

}  // namespace

std::string text(double x, double y, std::string_view words, std::string_view attributes) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, attributes, escaped(words));
}

std::string line(double x1, double y1, double x2, double y2, std::string_view attributes) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1, y1, x2, y2,
                     attributes);
}

std::string rectangle(double x, double y, double width, double height, std::string_view color) {
  return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n", x, y, width,
                     height, color);
}

std::string key(double x, double y, std::string_view color, std::string_view words) {
  return rectangle(x, y, 12, 12, color) + text(x + 18, y + 11, words);
}

std::string picture(double width, double height, std::string_view title, std::string_view elements) {
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
             "font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
             width, height) +
         text(16, 24, title, "font-size=\"15\" font-weight=\"bold\"") + std::string(elements) + "</svg>\n";
}

}  // namespace plait::bench::svg
