#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "plait/collective/node/reduction.hpp"

namespace {

using plait::Index;
using plait::collective::node::divide_by_counts;
using plait::collective::node::divide_equally;
using plait::collective::node::divide_for_root;
using plait::collective::node::longest_slice;
using plait::collective::node::piece_of;
using plait::collective::node::SlicePart;

using Begins = std::vector<Index>;

Begins equally(int ranks, Index n, Index element_bytes) {
  Begins begins(static_cast<std::size_t>(ranks) + 1, -1);
  divide_equally(n, element_bytes, begins);
  return begins;
}

Begins for_root(int ranks, Index n, int root) {
  Begins begins(static_cast<std::size_t>(ranks) + 1, -1);
  divide_for_root(n, 8, root, begins);
  return begins;
}

TEST(NodeSlices, are_whole_cache_lines_but_for_the_last) {
  EXPECT_EQ(equally(2, 100, 8), (Begins{0, 56, 100}));
  EXPECT_EQ(equally(3, 16, 8), (Begins{0, 8, 16, 16}));
  EXPECT_EQ(equally(3, 100, 12), (Begins{0, 48, 96, 100}));
  EXPECT_EQ(equally(2, 10, 100), (Begins{0, 10, 10}));
}

TEST(NodeSlices, of_the_last_ranks_are_empty_where_there_is_too_little) {
  EXPECT_EQ(equally(5, 1, 8), (Begins{0, 1, 1, 1, 1, 1}));
  EXPECT_EQ(equally(5, 9, 8), (Begins{0, 8, 9, 9, 9, 9}));
}

TEST(NodeSlices, divide_as_many_elements_as_can_be_counted) {
  const Index most = std::numeric_limits<Index>::max() / 2;
  for (const int ranks : {1, 2, 7, 1000}) {
    const Begins begins = equally(ranks, most, 1);
    EXPECT_EQ(begins.front(), 0);
    EXPECT_EQ(begins.back(), most);
    for (std::size_t r = 0; r + 1 < begins.size(); ++r) EXPECT_LE(begins[r], begins[r + 1]);
    EXPECT_LE(longest_slice(begins), most / ranks + 64);
  }
}

TEST(NodeSlices, are_all_the_roots_between_two_ranks) {
  EXPECT_EQ(for_root(2, 100, 0), (Begins{0, 100, 100}));
  EXPECT_EQ(for_root(2, 100, 1), (Begins{0, 0, 100}));
  EXPECT_EQ(for_root(3, 100, 1), equally(3, 100, 8));
}

TEST(NodeSlices, follow_counts) {
  Begins begins(4);
  divide_by_counts(std::array<Index, 3>{5, 0, 7}, begins);
  EXPECT_EQ(begins, (Begins{0, 5, 5, 12}));
  EXPECT_EQ(longest_slice(begins), 7);
}

TEST(NodeSlices, are_cut_into_pieces) {
  const Begins begins{0, 5, 5, 12};
  const auto piece = [&](int owner, Index round) {
    const SlicePart found = piece_of(begins, owner, round, 3);
    return std::array<Index, 2>{found.begin, found.end};
  };
  EXPECT_EQ(piece(0, 0), (std::array<Index, 2>{0, 3}));
  EXPECT_EQ(piece(0, 1), (std::array<Index, 2>{3, 5}));
  EXPECT_EQ(piece(0, 2), (std::array<Index, 2>{5, 5}));
  EXPECT_EQ(piece(1, 0), (std::array<Index, 2>{5, 5}));
  EXPECT_EQ(piece(2, 2), (std::array<Index, 2>{11, 12}));
  EXPECT_EQ(piece(2, 100), (std::array<Index, 2>{12, 12}));
}

}  // namespace
