#include "plait/io/hdf5/hdf5_name.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "plait/base/error.hpp"

namespace plait::io {

namespace {

constexpr std::array<std::string_view, 2> endings{".h5", ".hdf5"};

// Without memory, as one rank may have none left.
bool ends_like_hdf5(std::string_view file) {
  const auto lower = [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); };
  return std::ranges::any_of(endings, [&](std::string_view ending) {
    return file.size() >= ending.size() &&
           std::ranges::equal(file.substr(file.size() - ending.size()), ending, {}, lower);
  });
}

// The colon between file and data set: the first one that follows the ending of such a file.
std::size_t colon_of(std::string_view text) {
  for (auto at = text.find(':'); at != std::string_view::npos; at = text.find(':', at + 1)) {
    if (ends_like_hdf5(text.substr(0, at))) return at;
  }
  return std::string_view::npos;
}

}  // namespace

Hdf5Name parse_hdf5_name(std::string_view text) {
  const auto colon = colon_of(text);
  if (colon == std::string_view::npos) return {std::string(text), {}};
  const auto path = text.substr(colon + 1);
  if (path.find_first_not_of('/') == std::string_view::npos || path.ends_with('/')) {
    throw ArgumentError(
        fmt::format("{} names no data set after the colon; expected one such as {}:/path/to/matrix, or {} alone", text,
                    text.substr(0, colon), text.substr(0, colon)));
  }
  return {std::string(text.substr(0, colon)), fmt::format("{}{}", path.starts_with('/') ? "" : "/", path)};
}

bool is_hdf5_name(std::string_view text) { return ends_like_hdf5(text.substr(0, colon_of(text))); }

}  // namespace plait::io
