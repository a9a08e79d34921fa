#pragma once

#include "plait/collective/exchanged.hpp"
#include "plait/dense/arrangement/arrangement.hpp"
#include "plait/dense/panels.hpp"

namespace plait::dense {

/// What a role sends and receives during a product, exactly: messages and bytes, without the moves of A, B and C from
/// and to the caller's layouts. With square matrices, extents that divide evenly and whole messages these are the
/// formulas of the literature, for each of P ranks that have n² / P elements of each matrix:
///
/// ring:               P - 1 messages, (P - 1) n² / P elements
/// Cannon:             2 (√P - 1) messages, 2 (√P - 1) n² / P elements, after the initial alignment
/// SUMMA:              as many elements; of each panel, A's and B's, a message. In place likewise
/// 2.5D, c layers:     2 (√(P/c) - 1) n² / P elements of A and B in all, and (1 - 1/c) c n² / P of C
[[nodiscard]] collective::Exchanged product_traffic(const Arrangement& arrangement, const Cut& cut, Index element_bytes,
                                                    int role);

}  // namespace plait::dense
