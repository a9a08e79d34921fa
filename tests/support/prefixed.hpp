#pragma once

#include <string_view>

namespace plait::test {

/// Prints `text` to stdout, every line of it after "[rank r] ", in one write, so that the lines of different ranks do
/// not mix.
void print_prefixed(int rank, std::string_view text);

}  // namespace plait::test
