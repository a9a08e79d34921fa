#pragma once

#include <optional>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/dense/arrangement/arrangement.hpp"
#include "plait/layout/axis.hpp"
#include "plait/layout/layout.hpp"

/// What lies between the layouts of the caller's matrices and those of an arrangement: what stays where it is, who
/// plays which role, and what moves. Pure: the same on all ranks.
namespace plait::dense {

/// Whether two axes give each part the same elements. A question about axes that are made alike, and about such as give
/// each part neighbours: of others that would have to be compared block by block, no.
[[nodiscard]] bool have_same_parts(const layout::Axis& one, const layout::Axis& other);

/// The arrangement for C = A·B where it lies, if C's layout gives each rank one tile at most. A factor stays, too, if
/// its rows (its columns) belong to the same rows (columns) of ranks as C's; its terms may be dealt anyhow, and not as
/// those of the other. A factor that lies otherwise is brought to where it can be multiplied, and nothing is returned
/// if it would have to be put in order there, too; nor if the terms are cut into more blocks than can be looked at.
///
/// \param a,b  as they are read, op applied: m × k and k × n
/// \pre        c is m × n
[[nodiscard]] std::optional<Arrangement> in_place_arrangement(const layout::Layout& a, const layout::Layout& b,
                                                              const layout::Layout& c);

/// Which of so many ranks plays which of its roles: the owners of C's tiles, row by row, then all others.
/// \pre  in_place_arrangement returned something for c; c.ranks() <= ranks
[[nodiscard]] std::vector<int> in_place_roles(const layout::Layout& c, int ranks);

/// Whether the ranks hold the same elements in both layouts, each of them as one tile at most of the caller's: then
/// nothing has to move, whatever the axes are made of. (Of axes that deal blocks, if they are made alike.)
///
/// \pre  the shapes are equal, and no rank has more than one tile of `own`
[[nodiscard]] bool lies_as(const layout::Layout& given, const layout::Layout& own);

/// Which of a rank's tiles has elements: its number in `Layout::tiles_of`, -1 if none has.
[[nodiscard]] Index tile_with_elements(const layout::Layout& layout, int rank);

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
