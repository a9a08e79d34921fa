#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "plait/base/index.hpp"

namespace plait::io {

/// A value in the dictionary of a .npy header: a string, a truth value, a tuple of integers; of anything else the text.
struct OtherLiteral {
  std::string text;
};
using Literal = std::variant<std::string, bool, std::vector<Index>, OtherLiteral>;

/// Parses a dictionary as Python writes it, `{'descr': '<f8', 'shape': (3L, 4,), }`: strings in either quotes, with or
/// without prefix, integers also of Python 2.
///
/// \throws ArgumentError  with the place (counted from 0) and what was expected there
/// \throws ArgumentError  if a key comes twice or an integer does not fit an Index
[[nodiscard]] std::map<std::string, Literal> parse_python_dictionary(std::string_view text);

}  // namespace plait::io
