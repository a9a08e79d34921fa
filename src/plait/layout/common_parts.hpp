#pragma once

#include "plait/base/index.hpp"
#include "plait/layout/axis.hpp"

namespace plait::layout {

/// How many elements a part of one axis and a part of another have in common. For cyclic axes a whole common period of
/// them is a formula of the distance of the two parts' blocks; of what is left over the shorter way is taken, a sum of
/// floors for each element of a block, or the part's blocks one by one.
///
/// \pre  the axes have the same extent
[[nodiscard]] Index common_length(const Axis& a, Index part_of_a, const Axis& b, Index part_of_b);

/// How many pairs of a part of `a` and a part of `b` have anything in common. As a rule the cost grows with the number
/// of parts, not of pairs: cyclic axes that are longer than a common period are counted by residues, shorter ones by
/// the places where either is cut. Only where pairs meet several times in a period that does not fit the axis, each
/// meeting is looked at.
///
/// \pre  the axes have the same extent
[[nodiscard]] Index pairs_in_common(const Axis& a, const Axis& b);

}  // namespace plait::layout
