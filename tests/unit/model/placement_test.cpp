#include "plait/model/placement.hpp"

#include <gtest/gtest.h>

namespace {

using plait::model::Placement;

TEST(Placements, of_ranks_that_are_dealt_in_order_need_no_list) {
  EXPECT_EQ(Placement::on_nodes({7, 7, 3, 3, 9}), (Placement{5, 2}));
  EXPECT_EQ(Placement::on_nodes({4}), (Placement{1, 1}));
  EXPECT_EQ(Placement::on_nodes({5, 5, 5}), (Placement{3, 3}));
}

TEST(Placements, of_other_ranks_number_nodes_by_their_lowest_rank) {
  const Placement uneven = Placement::on_nodes({5, 8, 8, 8});
  EXPECT_EQ(uneven, (Placement{4, 3, {0, 1, 1, 1}}));
  EXPECT_EQ(uneven.nodes(), 2);
  EXPECT_EQ(uneven.node_of(0), 0);
  EXPECT_EQ(uneven.node_of(3), 1);
  EXPECT_EQ(Placement::on_nodes({2, 1, 2, 0}), (Placement{4, 2, {0, 1, 0, 2}}));
}

TEST(Placements, tell_nodes_of_dealt_ranks) {
  const Placement dealt{5, 2};
  EXPECT_EQ(dealt.nodes(), 3);
  EXPECT_EQ(dealt.node_of(3), 1);
  EXPECT_EQ(dealt.node_of(4), 2);
}

}  // namespace
