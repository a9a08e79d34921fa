#pragma once

#include <string_view>

/// All that the command says goes through here: results to stdout, the rest to stderr.
namespace plait::cli {

/// \throws FileError  if stdout does not take it
void print_result(std::string_view text);

/// "plait: warning: ..."
void print_warning(std::string_view text);

/// "plait: error: ..."
void print_error(std::string_view text);

}  // namespace plait::cli
