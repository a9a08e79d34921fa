#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "plait/base/error.hpp"
#include "plait/base/index.hpp"
#include "plait/base/random.hpp"

#include "capi/arguments.hpp"
#include "capi/plait.h"

namespace plait::capi {

/// The elements of each rank's block.
struct Counts {
  std::span<const Index> of_rank;
  Index total = 0;
  Index checksum = 0;

  Counts() = default;
  /// \throws ArgumentError  if there are none, one is negative, or all together are more than can be addressed
  Counts(const plait_index* given, int ranks, Index element_bytes, const std::string& name)
      : of_rank(expect_array(given, ranks, name.c_str())) {
    const Index most = std::numeric_limits<Index>::max() / element_bytes;
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < of_rank.size(); ++i) {
      const std::string entry = name + "[" + std::to_string(i) + "]";
      expect_at_least(entry, of_rank[i], 0);
      if (of_rank[i] > most - total) {
        throw ArgumentError(entry + ": is " + std::to_string(of_rank[i]) + ", expected at most " +
                            std::to_string(most) + " elements in all");
      }
      total += of_rank[i];
      bits = random_bits(bits, static_cast<std::uint64_t>(of_rank[i]));
    }
    checksum = static_cast<Index>(bits >> 1);
  }
};

}  // namespace plait::capi
