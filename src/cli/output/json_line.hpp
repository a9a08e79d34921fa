#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace plait::cli {

/// A JSON value in one line. Paths may hold bytes that are no UTF-8; such ones become U+FFFD.
[[nodiscard]] inline std::string json_line(const nlohmann::ordered_json& value) {
  return value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace plait::cli
