#pragma once

#include "plait/collective/stream.hpp"

namespace plait::collective {

/// to ← from within this rank's memory, counted as bytes that it moved by itself. Nothing where they are the same.
/// \pre  the ranges have the same length, and are the same or apart
[[nodiscard]] OperationId own_copy(Graph& graph, Position position, Range from, Range to, Dependencies after);

}  // namespace plait::collective
