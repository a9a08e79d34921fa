#include "plait/collective/arguments.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "plait/base/error.hpp"

namespace plait::collective {

void expect_pairwise(const Stream& stream, const schedule::Combine& combine) {
  if (combine.element_bytes() != stream.element_bytes()) {
    throw ArgumentError("combine: takes elements of " + std::to_string(combine.element_bytes()) +
                        " bytes, expected the stream's " + std::to_string(stream.element_bytes()));
  }
  if (combine.sum_of_all() != nullptr) {
    throw ArgumentError("combine: sums up all operands at once, expected an operation on two operands");
  }
}

Index most_within(const Stream& stream, Index stages) {
  std::vector<Index> begins;
  for (const Segment& segment : stream.segments()) begins.push_back(segment.stage);
  std::sort(begins.begin(), begins.end());
  Index most = 0;
  for (auto first = begins.begin(), last = begins.begin(); last != begins.end(); ++last) {
    while (*last - *first > stages) ++first;
    most = std::max<Index>(most, last - first + 1);
  }
  return most;
}

Index staged_blocks(const Stream& stream, Index stages) {
  const Index all = std::ssize(stream.segments());
  return std::max(most_within(stream, stages), std::min(all * stages, staged_segments)) + 1;
}

}  // namespace plait::collective
