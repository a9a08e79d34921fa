#include "plait/io/text/strict_json.hpp"

#include <set>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "plait/io/text/text_number.hpp"

namespace plait::io {

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
