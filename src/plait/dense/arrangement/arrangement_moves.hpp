#pragma once

#include <vector>

#include "plait/base/index.hpp"
#include "plait/dense/arrangement/arrangement.hpp"
#include "plait/dense/product.hpp"
#include "plait/layout/layout.hpp"

/// What lies between the layouts of the caller's matrices and those of an arrangement. Pure: the same on all ranks.
namespace plait::dense {

/// Which of so many ranks plays which role of an arrangement, so that least is moved; in place, the ranks where C lies.
[[nodiscard]] std::vector<int> ranks_of_roles(const Factors& factors, const layout::Layout& c,
                                              const Arrangement& arrangement, Index element_bytes, int ranks);

/// On more ranks, counting who has to send what to whom would take long.
inline constexpr int most_ranks_to_count = 256;

/// The bytes that the busiest rank sends or receives until A, B and C are where an arrangement wants them: counted on
/// so few ranks, and on more a rank's share of those matrices that do not lie there.
[[nodiscard]] Index moved_bytes(const Factors& factors, const layout::Layout& c, const Arrangement& arrangement,
                                Index element_bytes, int ranks);

}  // namespace plait::dense
