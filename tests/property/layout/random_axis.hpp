#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/random.hpp"
#include "plait/layout/axis.hpp"

namespace plait::test {

/// How many random cases a property is tried on.
inline constexpr std::uint64_t seeds = 3000;

/// A stream of random choices that a seed repeats.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : seed_(seed) {}

  /// Uniform in [least, most].
  Index between(Index least, Index most) {
    return least + static_cast<Index>(random_bits(seed_, counter_++) % static_cast<std::uint64_t>(most - least + 1));
  }
  bool maybe(int percent) { return between(0, 99) < percent; }

 private:
  std::uint64_t seed_;
  std::uint64_t counter_ = 0;
};

/// The reference: an axis as the part and the local index of every single element.
struct NaiveAxis {
  std::vector<Index> part;
  std::vector<Index> local;
  std::vector<Index> extents;  // of each part
  std::vector<Index> skipped;  // of each part

  [[nodiscard]] static NaiveAxis of(std::vector<Index> part, Index parts);
  [[nodiscard]] NaiveAxis sub(Index begin, Index end) const;
  [[nodiscard]] Index extent() const { return static_cast<Index>(part.size()); }
  [[nodiscard]] Index parts() const { return static_cast<Index>(extents.size()); }
};

struct AxisPair {
  layout::Axis axis;
  NaiveAxis naive;
  std::string made;  // how, for messages
};

/// An axis of this extent: cyclic, even or cut, ragged, with empty parts, blocks longer than it and more parts than
/// elements; perhaps a range of a range of a longer one.
[[nodiscard]] AxisPair random_axis(Dice& dice, Index extent);

}  // namespace plait::test
