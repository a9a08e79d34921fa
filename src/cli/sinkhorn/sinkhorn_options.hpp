#pragma once

#include <optional>
#include <string_view>

#include "plait/layout/shape.hpp"
#include "plait/sinkhorn/scaling/scale.hpp"

#include "cli/scaling/scaled_options.hpp"

namespace CLI {
class App;
}

namespace plait::cli {

/// How `plait sinkhorn` scales.
enum class ScalingMethod : unsigned char { scaling, in_place, algorithm_1, algorithm_2, algorithm_3 };

/// "scaling", "in-place", "algorithm-1", ...
[[nodiscard]] std::string_view name(ScalingMethod method) noexcept;

/// On which grid of ranks the matrix of the file is cut into blocks: whole rows (columns in Fortran order) as it is
/// read, or what costs tell, or this one.
struct GridChoice {
  bool is_automatic = false;
  std::optional<layout::Shape> grid;

  [[nodiscard]] bool is_given() const noexcept { return is_automatic || grid.has_value(); }
};

/// The command line of `plait sinkhorn`.
struct SinkhornOptions : ScaledOptions {
  ScalingMethod method = ScalingMethod::scaling;
  sinkhorn::ColumnExchange exchange;  // of the methods that work in place
  GridChoice grid;                    // of the method that does not
};

/// Adds the command to the program's; parsing fills `options`.
///
/// \throws UsageError  from parsing: a value is malformed, or options contradict each other
void add_sinkhorn(CLI::App& program, SinkhornOptions& options);

}  // namespace plait::cli
