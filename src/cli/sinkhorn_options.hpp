#pragma once

#include <string_view>

#include "cli/scaled_options.hpp"

namespace CLI {
class App;
}

namespace plait::cli {

/// How `plait sinkhorn` scales.
enum class ScalingForm : unsigned char { scaling, in_place };

[[nodiscard]] constexpr std::string_view name(ScalingForm form) noexcept {
  return form == ScalingForm::scaling ? "scaling" : "in-place";
}

/// The command line of `plait sinkhorn`.
struct SinkhornOptions : ScaledOptions {
  ScalingForm form = ScalingForm::scaling;
};

/// Adds the command to the program's; parsing fills `options`.
///
/// \throws UsageError  from parsing: a value is malformed, or options contradict each other
void add_sinkhorn(CLI::App& program, SinkhornOptions& options);

}  // namespace plait::cli
