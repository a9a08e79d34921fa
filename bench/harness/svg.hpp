#pragma once

#include <string>
#include <string_view>

namespace plait::bench::svg {

/// What the pictures of benchmarks have in common. All lengths are in pixels.
inline constexpr std::string_view plait_color = "#2f6db5";
inline constexpr std::string_view peer_color = "#b9bec6";
inline constexpr std::string_view gate_color = "#c0392b";

/// The elements of a picture, each a line of SVG. `words` may have any characters, attributes are taken as they are.
[[nodiscard]] std::string text(double x, double y, std::string_view words, std::string_view attributes = "");
[[nodiscard]] std::string line(double x1, double y1, double x2, double y2, std::string_view attributes);
[[nodiscard]] std::string rectangle(double x, double y, double width, double height, std::string_view color);

/// A small square in a color, and beside it what the color means.
[[nodiscard]] std::string key(double x, double y, std::string_view color, std::string_view words);

/// Everything around the elements: white, with a title at the top.
[[nodiscard]] std::string picture(double width, double height, std::string_view title, std::string_view elements);

}  // namespace plait::bench::svg
