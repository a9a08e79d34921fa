#include "cli/pictures/page.hpp"

#include <chrono>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "cli/pictures/script.hpp"
#include "cli/pictures/svg.hpp"

namespace plait::cli {

namespace {

constexpr std::size_t longest_number = 28;  // with its unit, or two: a cell with more is a text that may be broken

constexpr std::string_view page_style = R"(
:root { color-scheme: light; }
body { margin: 1.5rem auto; padding: 0 1.5rem; max-width: 2000px; background: #fff; color: #1d1d1b;
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: 0; overflow-wrap: anywhere; } h2 { font-size: 1.2rem; margin: 2rem 0 .4rem; }
h3 { font-size: 1rem; margin: .6rem 0 .2rem; }
p { margin: .3rem 0; max-width: 60rem; } .soft { color: #55554f; }
code { font: .9em ui-monospace, monospace; background: #f3f3f0; padding: .1em .3em; overflow-wrap: anywhere; }
.tiles { display: flex; flex-wrap: wrap; gap: 1rem 3rem; margin: 1.2rem 0; }
.tiles div { max-width: 22rem; } .tiles b { display: block; font-size: 1.7rem; font-weight: 600; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 520px), 1fr)); gap: 1rem 2rem; }
.figures > div { max-width: 860px; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .15rem min(1.2rem, 2vw) .15rem 0; text-align: right; border-bottom: 1px solid #e2e1dc; }
th { font-weight: 600; color: #55554f; } th:first-child, td:first-child { text-align: left; min-width: 4.5rem; }
td + td { white-space: nowrap; } td.words { white-space: normal; overflow-wrap: anywhere; } .scroll { overflow-x: auto; }
svg { display: block; width: 100%; } .bar { width: min(300px, 50vw); height: 12px; }
@media (max-width: 600px) { .figures svg text:not(.title) { font-size: 16px; } .figures svg .small { font-size: 13px; } }
.timeline { cursor: crosshair; touch-action: pan-y; user-select: none; }
button { font: inherit; padding: .1rem .7rem; color: inherit; background: #f3f3f0; border: 1px solid #aeb0b3;
  border-radius: 4px; }
.key { display: inline-block; margin-right: 1.2rem; } .key svg { display: inline-block; width: 1.1em; height: .7em; }
)";

}  // namespace

std::string page(const PageHead& head, std::string_view body) {
  // "plait transport X.npy ..." is a page of "transport: X.npy"
  const std::string_view words = std::string_view(head.command).substr(head.command.find(' ') + 1);
  const std::string title = svg::escaped(fmt::format("{}: {}", words.substr(0, words.find(' ')), head.subject));
  const auto now = std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width\">\n<title>{0}</title>\n<style>{1}{2}</style>\n</head>\n<body>\n<h1>{0}</h1>\n"
      "<p class=\"soft\">{3:%Y-%m-%d %H:%M} UTC, plait {4}: <code>{5}</code></p>\n<p>{6}</p>\n{7}<script>{8}</script>\n"
      "</body>\n</html>\n",
      title, svg::style, page_style, fmt::gmtime(now), PLAIT_VERSION, svg::escaped(head.command), head.summary, body,
      script);
}

std::string side_by_side(const std::vector<std::string>& figures) {
  std::string text = "<div class=\"figures\">\n";
  for (const std::string& figure : figures) text += fmt::format("<div>\n{}</div>\n", figure);
  return text + "</div>\n";
}

std::string key(std::string_view mark, std::string_view words) {
  return fmt::format(
      "<span class=\"key\"><svg aria-hidden=\"true\" viewBox=\"0 0 11 7\"><path class=\"{}\" stroke-width=\"7\" d=\"M0 "
      "3.5h11\"/></svg> {}</span>\n",
      mark, words);
}

std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::string text = "<div class=\"scroll\"><table>\n";
  for (std::size_t r = 0; r < rows.size(); ++r) {
    text += "<tr>";
    for (const std::string& cell : rows[r]) {
      const bool has_words = r > 0 && cell.size() > longest_number && !cell.starts_with('<');
      text += fmt::format("<{0}{2}>{1}</{0}>", r == 0 ? "th" : "td", cell, has_words ? " class=\"words\"" : "");
    }
    text += "</tr>\n";
  }
  return text + "</table></div>\n";
}

}  // namespace plait::cli
