#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "plait/base/index.hpp"

/// What the libraries that serve unmodified programs have in common where they tell what they served.
namespace plait::shim {

/// The value of an environment variable, empty where there is none.
[[nodiscard]] std::string_view environment(const char* name);

/// A line that says what is wrong with PLAIT_LOG; empty where nothing is.
[[nodiscard]] std::string complaint_about_log();

/// "1 call", "2 calls"
[[nodiscard]] std::string calls_text(Index number);

/// A symbol that a preloaded library of plait shows: it is in the process from the start, and tells what is wrong with
/// the settings. One that is loaded later looks for it, and leaves that to the former.
inline constexpr const char* teller_of_settings = "plait_tells_settings";

/// A line of a summary, without its end: what was served, how often, and how much of it.
/// \param width  of the first column
[[nodiscard]] std::string served_text(std::string_view what, std::size_t width, Index calls, Index bytes);

}  // namespace plait::shim
