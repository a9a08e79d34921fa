#include "plait/io/text/text_file.hpp"

#include <set>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "plait/base/error.hpp"
#include "plait/io/file.hpp"
#include "plait/io/rank_zero.hpp"
#include "plait/io/text/text_number.hpp"

namespace plait::io {

std::string read_text(const std::string& path, Index most_bytes, std::string_view expected) {
  const File file = File::open_to_read(path);
  const Index size = file.size();
  if (size > most_bytes) {
    throw FileError(fmt::format("{}: has {} bytes; expected {}, of at most {}", path, size, expected, most_bytes));
  }
  std::string text(static_cast<std::size_t>(size), '\0');
  text.resize(static_cast<std::size_t>(file.read_at(0, std::as_writable_bytes(std::span(text)))));
  return text;
}

std::string read_text(mpi::Context& context, const std::string& path, Index most_bytes, std::string_view expected) {
  std::string text;
  on_rank_zero(context, [&] { text = read_text(path, most_bytes, expected); });
  return text_of_rank_zero(context, text);
}

using nlohmann::json;

json parse_strictly(std::string_view text, const std::function<void(const std::string&)>& fail) {
  std::vector<std::set<std::string>> keys_of_open_objects;
  const auto watch = [&](int /*depth*/, json::parse_event_t event, const json& value) {
    if (event == json::parse_event_t::object_start) {
      keys_of_open_objects.emplace_back();
    } else if (event == json::parse_event_t::object_end) {
      keys_of_open_objects.pop_back();
    } else if (event == json::parse_event_t::key &&
               !keys_of_open_objects.back().insert(value.get<std::string>()).second) {
      fail(fmt::format("has the key {} twice, expected it once", shown(value)));
    }
    return true;
  };
  try {
    return json::parse(text, watch);
  } catch (const json::exception& error) {
    fail(complaint_of(error));
  }
  return {};
}

std::string complaint_of(const std::exception& error) {
  const std::string_view what = error.what();
  const auto end_of_id = what.find("] ");  // "[json.exception.parse_error.101] parse error at line ..."
  return printable(what.substr(end_of_id == std::string_view::npos ? 0 : end_of_id + 2));
}

std::string shown(const json& value) {
  constexpr std::size_t longest = 60;
  if (value.is_array()) return fmt::format("an array of {}", value.size());
  if (value.is_object()) return fmt::format("an object of {}", value.size());
  const std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  return text.size() <= longest ? text : text.substr(0, longest) + "...";
}

}  // namespace plait::io
