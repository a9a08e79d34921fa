#pragma once

#include <string_view>

/// All that the command says goes through here: results to stdout, the rest to stderr.
namespace plait::cli {

/// \throws FileError  if stdout does not take it
void print_result(std::string_view text);

/// To stderr as it is. What can't be written there is lost: that is no reason to end a job.
void print_aside(std::string_view text) noexcept;

/// "plait: warning: ..."
void print_warning(std::string_view text);

/// "plait: error: ..."
void print_error(std::string_view text);

}  // namespace plait::cli
