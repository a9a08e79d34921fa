#include "cli/scaling/input_files.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace plait::cli {

std::vector<InputFile> inputs_of(const ScaledOptions& options) {
  return {{"the entry in ", options.input},
          {" has only ", options.input},
          {"the matrix is ", options.input},
          {"the marginal of row ", options.rows},
          {"the marginal of column ", options.columns},
          {"the start has ", options.start}};
}

std::string naming_file(std::string_view error, const std::vector<InputFile>& inputs) {
  const auto names_it = [error](const InputFile& input) {
    if (input.path.empty()) return false;
    return error.starts_with(input.path + ": ") || error.find(": " + input.path + ": ") != std::string_view::npos;
  };
  if (std::ranges::any_of(inputs, names_it)) return std::string(error);
  for (const InputFile& input : inputs) {
    if (input.path.empty() || error.find(input.words) == std::string_view::npos) continue;
    return fmt::format("{}: {}", input.path, error);
  }
  return std::string(error);
}

}  // namespace plait::cli
