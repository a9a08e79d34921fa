#pragma once

#include "plait/collective/group.hpp"
#include "plait/collective/stream.hpp"

namespace plait::collective {

/// out of the rank `distance` places on ← in of this rank, for all ranks of the group at once, which is a circle.
///
/// \param distance  any, also negative; a multiple of the group's size copies within each rank
/// \param stream    of the elements, alike on all ranks
/// \param out       may be `in`, through staging memory; otherwise it does not overlap it
/// \return          the elements of `out`
[[nodiscard]] Stream shift(Graph& graph, const Group& group, Index distance, const Stream& stream, Place in, Place out);

}  // namespace plait::collective
