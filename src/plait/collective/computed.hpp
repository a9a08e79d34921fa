#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "plait/collective/stream.hpp"

namespace plait::collective {

/// Calls f(elements, number of the first one) on this rank for each segment as soon as it is final and nobody reads it
/// any more, while others are on their way. Where nothing else can be done meanwhile, a long segment delays the others.
/// \return  the elements as `f` leaves them
[[nodiscard]] Stream computed(Graph& graph, std::function<void(std::span<std::byte> elements, Index first)> f,
                              const Stream& stream, Place data);

}  // namespace plait::collective
