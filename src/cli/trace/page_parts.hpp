#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plait/report/trace.hpp"

/// What the HTML pages of reports are put together from. Each page needs nothing else, and is in light and dark.
namespace plait::cli {

/// The style of all pages: its classes are those of `Mark`, and those that the parts below use.
inline constexpr std::string_view page_style = R"(
:root { color-scheme: light dark; --page: #fcfcfb; --text: #1d1d1b; --soft: #6b6b66; --line: #e2e1dc;
  --compute: #2a6fc9; --combine: #12908a; --post: #c8394b; --wait: #b9b8b2; --rest: #e6e5e0;
  --network: #c77700; --node: #7d56c2; --self: #5d8a3c; }
@media (prefers-color-scheme: dark) { :root { --page: #191918; --text: #ecebe6; --soft: #a3a29b; --line: #3a3936;
  --compute: #5c9df0; --combine: #35bdb5; --post: #f0697a; --wait: #66655f; --rest: #33322f;
  --network: #f0a63a; --node: #ab8bea; --self: #8fbf6b; } }
body { margin: 2rem auto; padding: 0 1.5rem; max-width: 1400px; background: var(--page); color: var(--text);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1.1rem; margin: 2rem 0 .4rem; }
p { margin: .3rem 0; max-width: 60rem; } .soft { color: var(--soft); }
.tiles { display: flex; flex-wrap: wrap; gap: 1rem 3rem; margin: 1.2rem 0; }
.tiles b { display: block; font-size: 1.7rem; font-weight: 600; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .15rem .9rem .15rem 0; text-align: right; border-bottom: 1px solid var(--line); }
th { font-weight: 600; color: var(--soft); } th:first-child, td:first-child { text-align: left; }
.scroll { overflow-x: auto; } svg { display: block; width: 100%; }
svg text { font: 11px system-ui, sans-serif; fill: var(--soft); } svg path { fill: none; }
svg .grid { stroke: var(--line); stroke-width: 1; } .bar { width: 360px; height: 12px; }
.compute { stroke: var(--compute); } .combine { stroke: var(--combine); } .post { stroke: var(--post); }
.wait { stroke: var(--wait); } .rest { stroke: var(--rest); } .network { stroke: var(--network); }
.node { stroke: var(--node); } .self { stroke: var(--self); } .posted { stroke: var(--line); }
.level { stroke: var(--soft); } .band { stroke: none; opacity: .25; } .band.wait { fill: var(--wait); }
.band.compute { fill: var(--compute); } svg .title { fill: var(--text); }
.key { display: inline-block; margin-right: 1.2rem; } .key svg { display: inline-block; width: 1.1em; height: .7em; }
)";

/// A whole page. `title` is a text, `body` HTML.
[[nodiscard]] std::string page(std::string_view title, std::string_view body);

/// A text as HTML. What is no UTF-8, as names of files may be, becomes U+FFFD.
[[nodiscard]] std::string escaped(std::string_view text);

/// A line in the color of a class, and what it stands for.
[[nodiscard]] std::string key(std::string_view mark, std::string_view words);

/// A number that is shown large, and what it tells.
[[nodiscard]] std::string tile(std::string_view number, std::string_view words);

/// A table of rows of cells, the first row its head.
[[nodiscard]] std::string table(const std::vector<std::vector<std::string>>& rows);

/// The timeline of each rank, with its key and heading.
///
/// \param what  HTML: which part of a job it is; may be empty
[[nodiscard]] std::string timeline_section(const report::Trace& trace, Nanoseconds span, std::string_view what = {});

}  // namespace plait::cli
