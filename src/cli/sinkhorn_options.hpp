#pragma once

#include <string_view>

#include "plait/sinkhorn/scale.hpp"

#include "cli/scaled_options.hpp"

namespace CLI {
class App;
}

namespace plait::cli {

/// How `plait sinkhorn` scales.
enum class ScalingForm : unsigned char { scaling, in_place, algorithm_1, algorithm_2, algorithm_3 };

/// "scaling", "in-place", "algorithm-1", ...
[[nodiscard]] std::string_view name(ScalingForm form) noexcept;

/// The command line of `plait sinkhorn`.
struct SinkhornOptions : ScaledOptions {
  ScalingForm form = ScalingForm::scaling;
  sinkhorn::ColumnExchange exchange;  // of the forms that work in place
};

/// Adds the command to the program's; parsing fills `options`.
///
/// \throws UsageError  from parsing: a value is malformed, or options contradict each other
void add_sinkhorn(CLI::App& program, SinkhornOptions& options);

}  // namespace plait::cli
