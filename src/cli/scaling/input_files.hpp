#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plait/base/error.hpp"

#include "cli/scaling/scaled_options.hpp"

namespace plait::cli {

/// A file that a job reads, and words by which errors tell of what is in it: the library knows matrices, not files.
struct InputFile {
  std::string_view words;
  std::string path;  // may be empty, of a file that was not given
};

/// Those that all jobs may have. Jobs that have more of them have an overload for their options.
[[nodiscard]] std::vector<InputFile> inputs_of(const ScaledOptions& options);

/// The error with the file that it is about in front, that of the first words that it has; as it is, if it names one of
/// them already, behind a rank perhaps, or is about none.
[[nodiscard]] std::string naming_file(std::string_view error, const std::vector<InputFile>& inputs);

/// Does the work. Errors about what is in a file name it: as arguments' errors, they are the same on all ranks.
template <class Work>
auto naming_files(const std::vector<InputFile>& inputs, const Work& work) {
  try {
    return work();
  } catch (const ArgumentError& error) {
    throw ArgumentError(naming_file(error.what(), inputs));
  }
}

}  // namespace plait::cli
