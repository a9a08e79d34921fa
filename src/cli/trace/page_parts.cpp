#include "cli/trace/page_parts.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/trace/trace_svg.hpp"

namespace plait::cli {

namespace {

std::string as_utf8(std::string_view text) {
  using nlohmann::json;
  return json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace)).get<std::string>();
}

}  // namespace

std::string page(std::string_view title, std::string_view body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width\">\n<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n{}</body>\n</html>\n",
      escaped(title), page_style, body);
}

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

std::string key(std::string_view mark, std::string_view words) {
  return fmt::format(
      "<span class=\"key\"><svg aria-hidden=\"true\" viewBox=\"0 0 11 7\"><path class=\"{}\" stroke-width=\"7\" d=\"M0 "
      "3.5h11\"/></svg> "
      "{}</span>\n",
      mark, words);
}

std::string tile(std::string_view number, std::string_view words) {
  return fmt::format("<div><b>{}</b>{}</div>\n", number, words);
}

std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::string text = "<div class=\"scroll\"><table>\n";
  for (std::size_t r = 0; r < rows.size(); ++r) {
    text += "<tr>";
    for (const std::string& cell : rows[r]) text += fmt::format("<{0}>{1}</{0}>", r == 0 ? "th" : "td", cell);
    text += "</tr>\n";
  }
  return text + "</table></div>\n";
}

std::string timeline_section(const report::Trace& trace, Nanoseconds span, std::string_view what) {
  std::string text = "<h2>Timeline</h2>\n";
  if (!what.empty()) text += fmt::format("<p>{}</p>\n", what);
  text += "<p>";
  text += key("compute", "computing") + key("combine", "combining operands") + key("post", "posting") +
          key("wait", "waiting") + key("network", "under way between nodes") + key("node", "within a node") +
          key("self", "to itself") + key("posted", "posted, not under way");
  text +=
      "</p>\n<p class=\"soft\">Of each rank: what it computed; when it was in calls of MPI that post, and when it "
      "waited "
      "with nothing to do; what it sent, a lane for each message that was under way at the same time as others; what "
      "it "
      "received; requests of MPI and flags. Fainter: only part of the time that a pixel stands for.";
  if (const auto ranks = trace.ranks.size(); ranks > most_drawn_ranks) {
    text += fmt::format(" {} of {} ranks are drawn, at even distances.", most_drawn_ranks, ranks);
  }
  return text + "</p>\n" + timeline_svg(trace, span);
}

}  // namespace plait::cli
