#pragma once

#include <optional>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/dense/arrangement/arrangement.hpp"
#include "plait/layout/axis.hpp"
#include "plait/layout/layout.hpp"

namespace plait::dense {

/// Whether two axes give each part the same elements. A question about axes that are made alike, and about such as give
/// each part neighbours: of others that would have to be compared block by block, no.
[[nodiscard]] bool have_same_parts(const layout::Axis& one, const layout::Axis& other);

/// The arrangement for C = A·B where it lies, if C's layout gives each rank one tile at most. A factor stays, too, if
/// its rows (its columns) belong to the same rows (columns) of ranks as C's; its terms may be dealt anyhow, and not as
/// those of the other. A factor that lies otherwise is brought to where it can be multiplied, and nothing is returned
/// if it would have to be put in order there, too; nor if the terms are cut into more blocks than can be looked at.
///
/// Pure: the same on all ranks.
///
/// \param a,b  as they are read, op applied: m × k and k × n
/// \pre        c is m × n
[[nodiscard]] std::optional<Arrangement> in_place_arrangement(const layout::Layout& a, const layout::Layout& b,
                                                              const layout::Layout& c);

/// Which of so many ranks plays which of its roles: the owners of C's tiles, row by row, then all others.
/// \pre  in_place_arrangement returned something for c; c.ranks() <= ranks
[[nodiscard]] std::vector<int> in_place_roles(const layout::Layout& c, int ranks);

}  // namespace plait::dense
