#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "plait/base/index.hpp"
#include "plait/simd/isa.hpp"

/// What the libraries that serve unmodified programs have in common: settings in the environment, and how they tell
/// what they served.
namespace plait::shim {

/// The value of an environment variable, empty where there is none.
[[nodiscard]] std::string_view environment(const char* name);

/// A symbol that a preloaded library of plait shows: it is in the process from the start, and tells what is wrong with
/// the settings. One that is loaded later looks for it, and leaves that to the former.
inline constexpr const char* teller_of_settings = "plait_tells_settings";

/// A line that says what is wrong with PLAIT_LOG; empty where nothing is.
[[nodiscard]] std::string complaint_about_log();

/// What PLAIT_REPRODUCIBLE asks for: 1 is for sums that are the same to the last bit whatever the order of the ranks;
/// 0, empty or none is not.
struct ReproducibleSetting {
  bool is_wanted = false;
  std::string complaint;  ///< a line that says what is wrong with the variable; empty where nothing is
};
[[nodiscard]] ReproducibleSetting reproducible_setting();

/// What `simd::selected_isa` says. Where it refuses, since PLAIT_ISA can't be met, the best one: that is no reason to
/// end a program that knows nothing of plait.
/// \param tells  whether this process is the one that then says so on stderr
[[nodiscard]] simd::Isa isa_of_program(bool tells) noexcept;

/// "1 call", "2 calls"
[[nodiscard]] std::string calls_text(Index number);

/// A line of a summary, without its end: what was served, how often, and how much of it.
/// \param width  of the first column
[[nodiscard]] std::string served_text(std::string_view what, std::size_t width, Index calls, Index bytes);

}  // namespace plait::shim
