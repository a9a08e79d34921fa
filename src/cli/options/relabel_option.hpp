#pragma once

#include <optional>

#include "plait/redistribute/relabel/relabel.hpp"

namespace CLI {
class App;
}

namespace plait::cli {

/// Adds --relabel [exact|greedy] to a command; parsing fills `method`, exact where the option stands alone.
///
/// \throws UsageError  from parsing: another word
void add_relabel_option(CLI::App& command, std::optional<redistribute::AssignmentMethod>& method);

/// "exact", "greedy"
[[nodiscard]] const char* name(redistribute::AssignmentMethod method);

}  // namespace plait::cli
