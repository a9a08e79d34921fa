#pragma once

#include <exception>
#include <functional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace plait::io {

/// The value of a JSON text, in no object of which a key stands twice.
///
/// \param fail  called with what is wrong; it throws
[[nodiscard]] nlohmann::json parse_strictly(std::string_view text, const std::function<void(const std::string&)>& fail);

/// What the parser says is wrong, without its own name of it; bytes that it quotes are shown as <FF>, unless they are
/// ASCII.
[[nodiscard]] std::string complaint_of(const std::exception& error);

/// A value for an error text: whatever is large or deep is only named.
[[nodiscard]] std::string shown(const nlohmann::json& value);

}  // namespace plait::io
