#pragma once

#include <functional>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/model/bandwidth_curve.hpp"
#include "plait/model/cost.hpp"

/// Into how many strands an operation may be cut, the literature's rule for N_DUP, and into how long messages.
///
/// Source: Huang and Chow, "Overlapping Communications with Other Communications and its Application to Distributed
/// Dense Matrix Computations", section III.A.
namespace plait::model {

/// More strands than that consume much and gain nothing.
inline constexpr int most_useful_strands = 16;

/// A way is preferred to an earlier one if it takes less than this share of its time.
inline constexpr double worth_a_change = 0.99;

/// N_DUP · f_BW(n / N_DUP) >= f_BW(n): so many messages under way at once may carry as much as a single one.
/// \pre  bytes >= 0 and strands >= 1
[[nodiscard]] bool may_overlap(const BandwidthCurve& bandwidth, Index bytes, int strands);

/// The numbers of strands to choose among: 1, and those powers of two up to `most_useful_strands` for which that holds,
/// and whose strands have n_t bytes or more, so that messages are long enough for the link's rate.
[[nodiscard]] std::vector<int> possible_strands(const BandwidthCurve& bandwidth, Index bytes);

/// The sizes of messages to choose among, the longest first: the whole vector, and those of 4 KB to 1 MB whose rate is
/// known.
/// \pre  bytes >= 0
[[nodiscard]] std::vector<Index> possible_segments(const BandwidthCurve& bandwidth, Index bytes);

/// A part of a vector on its way through several operations.
struct PieceCost {
  Index bytes;
  Cost cost;  // of all of them
};

/// Into messages of which size to cut a vector that passes several operations, where the pieces of it follow each
/// other: of those that take nearly the same time the longest.
/// \param piece_of  the pieces that are made of messages of so many bytes
[[nodiscard]] Index choose_segment(const BandwidthCurve& bandwidth, Index bytes,
                                   const std::function<PieceCost(Index message_bytes)>& piece_of);

}  // namespace plait::model
