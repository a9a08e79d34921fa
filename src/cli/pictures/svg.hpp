#pragma once

#include <string>
#include <string_view>

/// What pictures are put together from: each piece is a line of SVG. Lengths are in units of the picture, at full size
/// pixels. Colours are classes of `style`: a path has its class as its line, a rectangle or a circle is filled with it.
/// p1 to p8 are shades of positive numbers, m1 to m8 of negative ones: no paler ink, which would be darker where cells
/// overlap.
namespace plait::cli::svg {

/// The style of all pictures. What may lie side by side differs in lightness too, for those who don't see its colour.
inline constexpr std::string_view style = R"(
svg text { font: 13px system-ui, sans-serif; fill: #55554f; } svg .title { fill: #1d1d1b; }
svg .heading { font-size: 15px; font-weight: 600; fill: #1d1d1b; } svg .small { font-size: 11px; }
svg path, svg line { fill: none; stroke: currentColor; } svg rect, svg circle { fill: currentColor; }
svg .hit, svg .cells { fill: transparent; pointer-events: all; } svg .hit:hover { fill: #1d1d1b; }
svg .chosen { color: #1f66b0; opacity: .2; }
svg .tip { fill: #1d1d1b; stroke: #fff; stroke-width: 5px; stroke-linejoin: round; paint-order: stroke;
  pointer-events: none; }
.plait, .compute { color: #1f66b0; } .peer, .wait { color: #a3a6ab; } .gate, .post { color: #c8394b; }
.minus, .network { color: #c05f00; } .combine { color: #0b8a7d; } .node { color: #7d56c2; } .self { color: #5a8a35; }
.ink { color: #1d1d1b; } svg .frame { fill: none; stroke: currentColor; stroke-width: 2px; }
.rest, .grid { color: #e2e1dc; } .posted { color: #e3dcc4; } .level { color: #6b6b66; } .paper { color: #fff; }
.p1 { color: #e3ecf5; } .p2 { color: #c7d9eb; } .p3 { color: #abc6e1; } .p4 { color: #8fb2d8; }
.p5 { color: #739fce; } .p6 { color: #578cc4; } .p7 { color: #3b79ba; } .p8 { color: #1f66b0; }
.m1 { color: #f7ebdf; } .m2 { color: #efd7bf; } .m3 { color: #e7c39f; } .m4 { color: #e0af80; }
.m5 { color: #d89b60; } .m6 { color: #d08740; } .m7 { color: #c87320; } .m8 { color: #c05f00; }
svg .band { stroke: none; fill: currentColor; opacity: .25; }
)";

/// A text as HTML or SVG. What is no UTF-8, as names of files may be, becomes U+FFFD.
[[nodiscard]] std::string escaped(std::string_view text);

/// The elements. `words` may have any characters; attributes are taken as they are. What is shown where the pointer
/// rests on an element is its title, which stands between its tags: `hover`.
[[nodiscard]] std::string text(double x, double y, std::string_view words, std::string_view attributes = "");
[[nodiscard]] std::string line(double x1, double y1, double x2, double y2, std::string_view attributes);
[[nodiscard]] std::string rectangle(double x, double y, double width, double height, std::string_view attributes,
                                    std::string_view hover = "");
[[nodiscard]] std::string circle(double x, double y, double radius, std::string_view attributes,
                                 std::string_view hover = "");

/// A small square of a class, and beside it what it means.
[[nodiscard]] std::string key(double x, double y, std::string_view mark, std::string_view words);

/// What the axes of a plot are called: below it, on `baseline`, and to its left, upright.
[[nodiscard]] std::string axis_titles(double left, double top, double right, double bottom, double baseline,
                                      std::string_view across, std::string_view up);

/// A picture of a page, as wide as there is room: "<svg ...>" with what is to be seen, for those who can't see it.
[[nodiscard]] std::string opening(std::string_view mark, double width, double height, std::string_view words);

/// A file: white, with a heading at the top, and the elements below.
[[nodiscard]] std::string file(double width, double height, std::string_view heading, std::string_view elements);

}  // namespace plait::cli::svg
