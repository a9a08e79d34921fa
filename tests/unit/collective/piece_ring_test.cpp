#include <deque>
#include <random>

#include <gtest/gtest.h>

#include "plait/collective/node/board.hpp"

namespace {

using plait::Index;
using plait::collective::node::PieceRing;

struct Place {
  Index begin, end;
};

TEST(PieceRing, KeepsPiecesApartFromThoseUnderWay) {
  std::mt19937 random(7);
  for (const Index longest : {Index{1}, Index{128}, Index{4096}, Index{65536}}) {
    PieceRing ring(longest);
    std::deque<Place> under_way;
    for (int call = 0; call < 300; ++call) {
      const Index bytes = std::uniform_int_distribution<Index>(1, longest)(random);
      const Index pieces = std::uniform_int_distribution<Index>(0, 40)(random);
      ring.begin(bytes);
      for (Index i = 0; i < pieces; ++i) {
        const Place place{ring.place(i), ring.place(i) + bytes};
        ASSERT_GE(place.begin, 0);
        ASSERT_LE(place.end, PieceRing::bytes_for(longest));
        ASSERT_EQ(place.begin % PieceRing::apart, 0);
        for (const Place& other : under_way) {
          ASSERT_TRUE(place.end <= other.begin || other.end <= place.begin)
              << place.begin << " to " << place.end << " over " << other.begin << " to " << other.end;
        }
        under_way.push_back(place);
        if (under_way.size() == PieceRing::pieces_ahead) under_way.pop_front();
      }
      ring.end(pieces);
    }
  }
}

TEST(PieceRing, UsesAllOfItForShortPieces) {
  constexpr Index longest = 65536;
  constexpr Index bytes = 1000;  // 1024 with what keeps them apart
  PieceRing ring(longest);
  const Index pieces = PieceRing::bytes_for(longest) / 1024;
  Index farthest = 0;
  for (Index call = 0; call < pieces; ++call) {
    ring.begin(bytes);
    ASSERT_EQ(ring.place(0), call * 1024);
    farthest = ring.place(0) + 1024;
    ring.end(1);
  }
  EXPECT_EQ(farthest, PieceRing::bytes_for(longest));
  ring.begin(bytes);
  EXPECT_EQ(ring.place(0), 0);
}

}  // namespace
