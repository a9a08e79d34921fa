#pragma once

#include <string>
#include <string_view>
#include <vector>

/// What the HTML pages of reports are put together from. Each page needs nothing else.
namespace plait::cli {

/// What stands at the head of a page.
struct PageHead {
  std::string subject;  // what the command was about: a file
  std::string command;  // the whole line, as a shell takes it
  std::string summary;  // HTML
};

/// A whole page, with the time of now and the version of plait. `body` is HTML.
[[nodiscard]] std::string page(const PageHead& head, std::string_view body);

/// Pictures of about one width beside each other where the window has room, each with what belongs to it.
[[nodiscard]] std::string side_by_side(const std::vector<std::string>& figures);

/// A line in the color of a class, and what it stands for.
[[nodiscard]] std::string key(std::string_view mark, std::string_view words);

/// A table of rows of cells, the first row its head.
[[nodiscard]] std::string table(const std::vector<std::vector<std::string>>& rows);

}  // namespace plait::cli
