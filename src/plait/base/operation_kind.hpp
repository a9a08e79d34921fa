#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace plait {

/// What an operation of a schedule is: see `schedule::Graph`.
enum class OperationKind : unsigned char { send, receive, reduce_local, compute, request, signal, await };

inline constexpr std::array<std::string_view, 7> operation_kind_names{"send",    "receive", "reduce_local", "compute",
                                                                      "request", "signal",  "await"};

[[nodiscard]] constexpr std::string_view name(OperationKind kind) noexcept {
  return operation_kind_names[static_cast<std::size_t>(kind)];
}

/// True for what a rank does by itself, false for what other ranks have a part in.
[[nodiscard]] constexpr bool is_work(OperationKind kind) noexcept {
  return kind == OperationKind::compute || kind == OperationKind::reduce_local;
}

}  // namespace plait
