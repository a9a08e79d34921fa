#include "support/prefixed.hpp"

#include <cstdio>
#include <string>

namespace plait::test {

void print_prefixed(int rank, std::string_view text) {
  const std::string prefix = "[rank " + std::to_string(rank) + "] ";
  std::string lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    lines.append(prefix).append(text.substr(0, end)).append("\n");
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  std::fwrite(lines.data(), 1, lines.size(), stdout);
  std::fflush(stdout);
}

}  // namespace plait::test
