#pragma once

#include <cstdint>

#include <gtest/gtest.h>

#include "plait/mpi/context.hpp"

#include "mpi/schedule/words.hpp"
#include "support/ranks.hpp"

namespace plait::test {

/// A context whose ranks form a ring.
struct Ring : ::testing::Test {
  mpi::Context context{test_comm()};
  int rank = context.rank();
  int ranks = context.size();
  int right = (rank + 1) % ranks;
  int left = (rank + ranks - 1) % ranks;

  /// `count` words to the right.
  [[nodiscard]] Graph shift(Index count) const {
    Graph graph;
    const SlotId in = graph.input(count * word_bytes);
    const SlotId out = graph.output(count * word_bytes);
    graph.send({}, right, words_of(in, 0, count));
    graph.receive({}, left, words_of(out, 0, count));
    return graph;
  }

  /// What `source` sends.
  [[nodiscard]] static Words words_from(int source, Index count) {
    return Words(static_cast<std::size_t>(count), static_cast<std::uint64_t>(1000 + source));
  }
};

}  // namespace plait::test
