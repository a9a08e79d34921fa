#include "plait/base/counters.hpp"

#include <gtest/gtest.h>

namespace {

using plait::PeerClass;
using plait::Traffic;
using plait::TrafficCounters;

TEST(Counters, add_messages_and_bytes) {
  Traffic traffic{1, 100};
  traffic += {2, 50};
  EXPECT_EQ(traffic, (Traffic{3, 150}));
}

TEST(Counters, keep_the_classes_of_peers_and_the_directions_apart) {
  TrafficCounters counters;
  for (const PeerClass peer : plait::peer_classes) {
    counters.sent_to(peer) = {static_cast<plait::Index>(peer) + 1, 10};
    counters.received_from(peer) = {static_cast<plait::Index>(peer) + 4, 20};
  }
  for (const PeerClass peer : plait::peer_classes) {
    EXPECT_EQ(counters.sent_to(peer).messages, static_cast<plait::Index>(peer) + 1) << name(peer);
    EXPECT_EQ(counters.received_from(peer).messages, static_cast<plait::Index>(peer) + 4) << name(peer);
  }
}

TEST(Counters, name_each_class_of_peers) {
  EXPECT_EQ(name(PeerClass::self), "self");
  EXPECT_EQ(name(PeerClass::node), "node");
  EXPECT_EQ(name(PeerClass::network), "network");
}

}  // namespace
