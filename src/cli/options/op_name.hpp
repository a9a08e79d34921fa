#pragma once

#include <string_view>

#include "plait/redistribute/op.hpp"

namespace plait::cli {

/// "identity", "transpose", "conjugate", "conjugate-transpose"
[[nodiscard]] std::string_view name(redistribute::Op op);

/// What an operation can be, for the help.
inline constexpr const char* op_words =
    "identity (default), transpose, conjugate or conjugate-transpose; or N, T, C, H";

/// Also of "N", "T", "C" and "H", in this order: "C" conjugates without transposing.
/// \throws ArgumentError  naming the text and all that it could be
[[nodiscard]] redistribute::Op parse_op(std::string_view text);

}  // namespace plait::cli
