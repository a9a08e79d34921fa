#pragma once

#include <vector>

#include "plait/base/index.hpp"
#include "plait/layout/layout.hpp"

namespace plait::layout {

/// How many elements the rank that is asked about gets from a rank.
struct Share {
  int rank = 0;
  Index elements = 0;
  friend bool operator==(const Share&, const Share&) = default;
};

/// How many elements move from each rank to each other, between two layouts of the same shape: the communication graph
/// of a redistribution, without the places of elements. Rows and columns are counted apart, so that memory grows with
/// what their parts have in common and never with the number of pairs of ranks; where two cyclic axes repeat, one
/// period is counted.
///
/// \throws ShapeMismatch  if the shapes differ
/// Source: Kabić et al., "COSTA", section 3: V(S_ij) of all packages.
class Volumes {
 public:
  Volumes(const Layout& source, const Layout& target);

  /// What `rank` of the target gets, from whom, itself included: by rank, without empty shares.
  [[nodiscard]] std::vector<Share> received_by(int rank) const;

 private:
  /// A part of the other axis and how many elements it has in common with mine.
  struct Common {
    Index part;
    Index length;
  };
  using CommonByPart = std::vector<std::vector<Common>>;

  static CommonByPart by_target_part(const Axis& source, const Axis& target);
  static CommonByPart counted(const Axis& source, const Axis& target);

  Owners source_, target_;
  bool empty_;                   // then nothing is counted, however many rows there may be of no columns
  CommonByPart rows_, columns_;  // of the target's parts, with the source's
};

}  // namespace plait::layout
