#include <cmath>

#include <gtest/gtest.h>

#include "bench/multiply/symm_transfers.hpp"

namespace plait::test {
namespace {

using bench::NodeVolume;
using bench::SymmTransfer;

TEST(EstimatedNodeBytes, AreThoseOfTheLiteraturesTable) {
  struct Row {
    int ranks_per_node, edge;
    double megabytes;
  };
  for (const Row& row : {Row{1, 4, 265.0}, {2, 5, 311.5}, {4, 6, 405.1}, {6, 7, 429.7}, {8, 8, 390.5}}) {
    const double bytes = bench::estimated_node_bytes(7645, row.edge, row.ranks_per_node, 8);
    EXPECT_NEAR(bytes / (1 << 20), row.megabytes, 0.05) << row.ranks_per_node;
  }
}

TEST(EstimatedNodeBytes, AreNoneOfOneNode) {
  EXPECT_EQ(bench::estimated_node_bytes(100, 1, 1, 8), 0);
  EXPECT_EQ(bench::estimated_node_bytes(100, 3, 27, 8), 0);
}

TEST(NodeVolumes, CountWhatPassesLinks) {
  const std::vector<SymmTransfer> transfers{{0, 1, {1, 1000}}, {0, 2, {1, 10}}, {1, 3, {2, 20}},
                                            {2, 4, {1, 5}},    {4, 0, {1, 7}},  {3, 2, {9, 900}}};
  const NodeVolume volume = bench::node_volume({5, 2}, transfers);
  EXPECT_EQ(volume.most_sent, (Traffic{3, 30}));
  EXPECT_EQ(volume.most_received, (Traffic{3, 30}));
  EXPECT_EQ(volume.total, (Traffic{5, 42}));
  EXPECT_EQ(volume.busiest_bytes(), 30);
  EXPECT_EQ(bench::node_volume({5, 5}, transfers).total, Traffic{});
}

}  // namespace
}  // namespace plait::test
