#include "cli/options/op_name.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "plait/base/error.hpp"

namespace plait::cli {

namespace {

constexpr std::array<std::string_view, 4> names{"identity", "transpose", "conjugate", "conjugate-transpose"};
constexpr std::string_view letters = "NTCH";

}  // namespace

std::string_view name(redistribute::Op op) { return names[static_cast<std::size_t>(op)]; }

redistribute::Op parse_op(std::string_view text) {
  if (const auto letter = letters.find(text); text.size() == 1 && letter != std::string_view::npos) {
    return static_cast<redistribute::Op>(letter);
  }
  const auto found = std::ranges::find(names, text);
  if (found == names.end()) {
    throw ArgumentError(fmt::format(
        "'{}' is unknown; expected identity, transpose, conjugate or conjugate-transpose, or N, T, C or H", text));
  }
  return static_cast<redistribute::Op>(found - names.begin());
}

}  // namespace plait::cli
