#include "plait/model/strands.hpp"

#include <algorithm>
#include <climits>

#include "plait/base/contract.hpp"
#include "plait/base/rounding.hpp"

namespace plait::model {

bool may_overlap(const BandwidthCurve& bandwidth, Index bytes, int strands) {
  PLAIT_ASSERT(bytes >= 0 && strands >= 1, "there are strands");
  return strands * bandwidth.bytes_per_second(bytes / strands) >= bandwidth.bytes_per_second(bytes);
}

std::vector<int> possible_strands(const BandwidthCurve& bandwidth, Index bytes) {
  const Index least_bytes = bandwidth.threshold_bytes();
  std::vector<int> possible{1};
  for (int strands = 2; strands <= most_useful_strands && bytes / strands >= least_bytes; strands *= 2) {
    if (may_overlap(bandwidth, bytes, strands)) possible.push_back(strands);
  }
  return possible;
}

std::vector<Index> possible_segments(const BandwidthCurve& bandwidth, Index bytes) {
  PLAIT_ASSERT(bytes >= 0, "a vector has bytes");
  constexpr Index shortest = 4'000;
  constexpr Index longest = 1'000'000;
  std::vector<Index> possible{std::max<Index>(1, bytes)};
  const auto points = bandwidth.points();
  for (auto point = points.rbegin(); point != points.rend(); ++point) {
    const Index size = point->message_bytes;
    if (size < bytes && size >= shortest && size <= longest) possible.push_back(size);
  }
  return possible;
}

Index choose_segment(const BandwidthCurve& bandwidth, Index bytes,
                     const std::function<PieceCost(Index message_bytes)>& piece_of) {
  Index best = std::max<Index>(1, bytes);
  double least_seconds = seconds(piece_of(best).cost, 1);
  for (const Index segment : possible_segments(bandwidth, bytes)) {
    const PieceCost piece = piece_of(segment);
    const Index pieces = std::max<Index>(1, quotient_up(bytes, piece.bytes));
    const double time = seconds(piece.cost, static_cast<int>(std::min<Index>(pieces, INT_MAX)));
    if (time >= worth_a_change * least_seconds) continue;
    best = segment;
    least_seconds = time;
  }
  return best;
}

}  // namespace plait::model
