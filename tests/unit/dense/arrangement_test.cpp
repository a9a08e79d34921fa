// What each role has to do, against the formulas of the literature.

#include "plait/dense/arrangement/arrangement.hpp"

#include <set>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/dense/arrangement/choice.hpp"
#include "plait/dense/arrangement/moves.hpp"
#include "plait/model/machine.hpp"

#include "support/product_traffic.hpp"

namespace plait::test {
namespace {

using dense::Choice;
using dense::Method;

constexpr Index n = 72;
constexpr Cut whole{.panel_terms = n, .a_segment = n * n, .b_segment = n * n, .c_segment = n * n};

Exchanged traffic(Method method, const ProcessGrid& mesh, int role, const Cut& cut = whole) {
  return product_traffic(Arrangement({n, n, n}, method, mesh), cut, 1, role);
}

TEST(ProductTraffic, OfARingIsAllOfOneMatrix) {
  for (const int p : {2, 3, 6}) {
    for (const ProcessGrid& mesh : {ProcessGrid{p, 1, 1}, ProcessGrid{1, p, 1}}) {
      for (int role = 0; role < p; ++role) {
        const auto counted = traffic(Method::ring, mesh, role);
        EXPECT_EQ(counted.sent, (Traffic{p - 1, (p - 1) * n * n / p}));
        EXPECT_EQ(counted.received, counted.sent);
      }
    }
  }
}

TEST(ProductTraffic, OfCannonIsTwoPartsARound) {
  for (const int q : {2, 3, 4}) {
    for (int role = 0; role < q * q; ++role) {
      const auto counted = traffic(Method::cannon, {q, q, 1}, role);
      EXPECT_EQ(counted.sent, (Traffic{2 * (q - 1), 2 * (q - 1) * n * n / (q * q)}));
      EXPECT_EQ(counted.received, counted.sent);
    }
  }
}

TEST(ProductTraffic, OfSummaIsAPanelOfEachMatrixFromEveryOtherRank) {
  for (const int q : {2, 3, 4}) {
    Traffic sent;
    for (int role = 0; role < q * q; ++role) {
      const auto counted = traffic(Method::summa, {q, q, 1}, role);
      EXPECT_EQ(counted.received, (Traffic{2 * (q - 1), 2 * (q - 1) * n * n / (q * q)}));
      sent += counted.sent;
    }
    EXPECT_EQ(sent, (Traffic{2 * (q - 1) * q * q, 2 * (q - 1) * n * n}));
  }
}

TEST(ProductTraffic, OfSummaInNarrowPanelsIsAsManyWordsInMoreMessages) {
  Cut narrow = whole;
  narrow.panel_terms = 4;
  const auto counted = traffic(Method::summa, {3, 3, 1}, 4, narrow);
  EXPECT_EQ(counted.received, (Traffic{2 * 2 * (n / 3 / 4), 2 * 2 * n * n / 9}));
}

TEST(ProductTraffic, OfLayersIsThatOfSmallerProductsAndASum) {
  for (const int c : {2, 3}) {
    const int q = 4;
    const Index each = n * n / (q * q * c);
    for (int role = 0; role < q * q * c; ++role) {
      const auto counted = traffic(Method::cannon, {q, q, c}, role);
      EXPECT_EQ(counted.sent, (Traffic{2 * (q - 1) + c - 1, 2 * (q - 1) * each + (c - 1) * each}));
    }
  }
}

TEST(ProductTraffic, OfACubeMovesOneOverTheSquareOfTheCubeRoot) {
  for (const int q : {2, 3}) {
    const auto counted = traffic(Method::summa, {q, q, q}, 0);
    EXPECT_EQ(counted.received.bytes, 3 * (q - 1) * n * n / (q * q * q));
    const double bound = dense::least_elements_received({n, n, n}, q * q * q);
    EXPECT_NEAR(static_cast<double>(counted.received.bytes), bound, 1e-6 * bound);  // nothing moves less
  }
}

TEST(LeastElementsReceived, AreThoseOfTheThreeCases) {
  // One matrix moves: a small square times a long one, on few ranks.
  EXPECT_DOUBLE_EQ(dense::least_elements_received({1000, 10, 10}, 10), 10 * 10 * (1 - 1.0 / 10));
  // Two move: C is large and stays.
  EXPECT_DOUBLE_EQ(dense::least_elements_received({100, 100, 10}, 4), 2 * 10 * 50 - (2 * 1000) / 4.0);
  EXPECT_EQ(dense::least_elements_received({100, 100, 10}, 1), 0);
  EXPECT_EQ(dense::least_elements_received({100, 0, 10}, 7), 0);
}

TEST(Arrangement, RoundsMultiplyEveryTermOnce) {
  for (const int q : {1, 2, 3, 5}) {
    const Arrangement cannon({7, 9, 11}, Method::cannon, {q, q, 1});
    for (int role = 0; role < q * q; ++role) {
      EXPECT_EQ(cannon.a_part(cannon.mesh().place(role)), cannon.b_part(cannon.mesh().place(role)));
      EXPECT_EQ(cannon.mesh().rank(cannon.mesh().place(role)), role);
    }
  }
}

TEST(Arrangement, PanelsAreAllTermsOfALayer) {
  for (const ProcessGrid& mesh :
       {ProcessGrid{2, 3, 1}, ProcessGrid{3, 2, 2}, ProcessGrid{1, 5, 3}, ProcessGrid{4, 4, 1}}) {
    const Arrangement arrangement({10, 10, 47}, Method::summa, mesh);
    std::set<Index> seen;
    for (int layer = 0; layer < mesh.layers; ++layer) {
      for (const dense::Panel& panel : dense::panels(arrangement, layer, 5)) {
        EXPECT_LE(panel.terms, 5);
        const dense::Span a = arrangement.a_terms(layer, panel.a_part);
        const dense::Span b = arrangement.b_terms(layer, panel.b_part);
        EXPECT_EQ(a.begin + panel.a_begin, b.begin + panel.b_begin);
        EXPECT_LE(panel.a_begin + panel.terms, a.length());
        EXPECT_LE(panel.b_begin + panel.terms, b.length());
        for (Index i = 0; i < panel.terms; ++i) EXPECT_TRUE(seen.insert(a.begin + panel.a_begin + i).second);
      }
    }
    EXPECT_EQ(seen.size(), 47U);
  }
}

/// Block-cyclic matrices of n x n, in blocks of 4, 3 terms at a time for B, on a grid.
Arrangement in_place(int rows, int columns) {
  using layout::Axis;
  return Arrangement({Axis::cyclic(n, 4, rows), Axis::cyclic(n, 4, columns, columns - 1), Axis::cyclic(n, 4, columns),
                      Axis::cyclic(n, 3, rows, rows - 1)});
}

TEST(ProductTraffic, InPlaceIsAsManyWordsAsSummaHasWhereverBlocksLie) {
  for (const auto& [rows, columns] : {std::pair(1, 1), {2, 2}, {3, 3}, {2, 3}, {4, 1}, {1, 3}, {5, 7}}) {
    const Arrangement arrangement = in_place(rows, columns);
    Traffic sent, received;
    for (int role = 0; role < rows * columns; ++role) {
      const auto me = arrangement.mesh().place(role);
      const auto counted = product_traffic(arrangement, whole, 1, role);
      // All terms of its rows but its own, and of its columns.
      const Index own_rows = arrangement.given()->rows.local_extent(me.row);
      const Index own_columns = arrangement.given()->columns.local_extent(me.column);
      EXPECT_EQ(counted.received.bytes, own_rows * (n - arrangement.given()->a_terms.local_extent(me.column)) +
                                            own_columns * (n - arrangement.given()->b_terms.local_extent(me.row)));
      sent += counted.sent;
      received += counted.received;
    }
    EXPECT_EQ(sent, received);
    EXPECT_EQ(received.bytes, (rows + columns - 2) * n * n);
  }
}

TEST(Arrangement, PanelsInPlaceAreTheSameTermsOfBothFactors) {
  for (const auto& [rows, columns] : {std::pair(1, 1), {2, 2}, {2, 3}, {4, 1}, {1, 3}, {5, 7}}) {
    const Arrangement arrangement = in_place(rows, columns);
    // The terms of a part in the order of the panels, by brute force.
    const auto terms = [](const layout::Axis& axis, int part, const std::vector<dense::Stretch>& order) {
      std::vector<Index> all;
      for (Index local = 0; local < axis.local_extent(part); ++local) all.push_back(axis.global_of(part, local));
      if (order.empty()) return all;
      std::vector<Index> sorted;
      for (const dense::Stretch& some : order) {
        sorted.insert(sorted.end(), all.begin() + some.begin, all.begin() + some.begin + some.length);
      }
      return sorted;
    };
    std::set<Index> seen;
    for (const dense::Panel& panel : dense::panels(arrangement, 0, 5)) {
      EXPECT_LE(panel.terms, 5);
      const auto of_a = terms(arrangement.given()->a_terms, panel.a_part, dense::a_order(arrangement, panel.a_part));
      const auto of_b = terms(arrangement.given()->b_terms, panel.b_part, dense::b_order(arrangement, panel.b_part));
      for (Index i = 0; i < panel.terms; ++i) {
        const Index term = of_a.at(static_cast<std::size_t>(panel.a_begin + i));
        EXPECT_EQ(of_b.at(static_cast<std::size_t>(panel.b_begin + i)), term);
        EXPECT_TRUE(seen.insert(term).second);
      }
    }
    EXPECT_EQ(seen.size(), static_cast<std::size_t>(n));
  }
}

TEST(Arrangement, NarrowBlocksMakeWidePanels) {
  using layout::Axis;
  const Arrangement arrangement(
      {Axis::cyclic(1000, 8, 2), Axis::cyclic(1000, 8, 2), Axis::cyclic(1000, 8, 2), Axis::cyclic(1000, 8, 2)});
  const std::vector<dense::Panel> panels = dense::panels(arrangement, 0, 256);
  ASSERT_EQ(panels.size(), 4U);
  for (std::size_t i = 0; i < panels.size(); ++i) {
    EXPECT_GE(panels[i].terms, 248);
    EXPECT_EQ(panels[i].a_part, static_cast<int>(i % 2));  // owners take turns
    EXPECT_EQ(panels[i].b_part, panels[i].a_part);
  }
  EXPECT_TRUE(dense::a_order(arrangement, 0).empty());  // nothing has to be put in order
  EXPECT_TRUE(dense::b_order(arrangement, 1).empty());
}

Choice choice(const dense::ProductShape& shape, int ranks, const dense::MultiplicationOptions& options = {}) {
  return dense::choose(shape, model::default_machine(), {ranks, 1}, 8, options);
}

TEST(MultiplicationChoice, FollowsTheShape) {
  EXPECT_EQ(choice({100000, 100, 100}, 8).arrangement.mesh(), (ProcessGrid{8, 1, 1}));
  EXPECT_EQ(choice({100, 100000, 100}, 8).arrangement.mesh(), (ProcessGrid{1, 8, 1}));
  EXPECT_EQ(choice({100, 100, 100000}, 8).arrangement.mesh(), (ProcessGrid{1, 1, 8}));
  EXPECT_GE(choice({2000, 2000, 2000}, 512).arrangement.mesh().layers, 4);
  EXPECT_EQ(choice({3000, 3000, 3000}, 1).arrangement.mesh(), (ProcessGrid{1, 1, 1}));
}

TEST(MultiplicationChoice, TakesFewerLayersWhereMemoryIsShort) {
  const dense::ProductShape shape{2000, 2000, 2000};
  const Choice free = choice(shape, 64, {.mesh = {0, 0, 4}, .redistribution_bytes = 100000});
  EXPECT_EQ(free.arrangement.mesh(), (ProcessGrid{4, 4, 4}));
  int layers = 4;
  for (Index limit = free.workspace_bytes; layers > 1; limit = limit * 9 / 10) {
    const Choice limited = choice(shape, 64, {.mesh = {0, 0, 4}, .memory_limit = limit});
    EXPECT_LE(limited.workspace_bytes, limit);
    EXPECT_LE(limited.arrangement.mesh().layers, layers);
    layers = limited.arrangement.mesh().layers;
  }
}

TEST(MultiplicationChoice, LeavesMatricesInPlaceWhereMovingThemTakesLonger) {
  using layout::Layout;
  const Layout cyclic = Layout::block_cyclic({2000, 2000}, 64, 64, layout::Owners::grid(2, 2));
  const auto in_place = dense::in_place_arrangement(cyclic, cyclic, cyclic);
  ASSERT_TRUE(in_place);
  const dense::ProductShape shape{2000, 2000, 2000};
  const auto chosen = [&](Index moved) {
    const auto moved_bytes = [=](const Arrangement& arrangement) { return arrangement.given() ? 0 : moved; };
    return dense::choose(shape, model::default_machine(), {4, 1}, 8, {}, moved_bytes, in_place).arrangement;
  };
  EXPECT_EQ(chosen(Index{1} << 24).method(), Method::in_place);
  EXPECT_EQ(chosen(Index{1} << 24).describe(), "SUMMA in place on 2 x 2 ranks");
  EXPECT_NE(chosen(0).method(), Method::in_place);
}

TEST(InPlace, IsPossibleWhereCGivesEachRankOneTile) {
  using layout::Layout;
  using layout::Owners;
  const auto cyclic = [](Index rows, Index columns, Index block) {
    return Layout::block_cyclic({rows, columns}, block, block, Owners::grid(2, 3));
  };
  const Layout a = cyclic(50, 70, 4), b = cyclic(70, 60, 4), c = cyclic(50, 60, 4);
  EXPECT_TRUE(dense::in_place_arrangement(a, b, c));
  EXPECT_TRUE(dense::in_place_arrangement(Layout::rows({50, 70}, 6), Layout::rows({70, 60}, 6), c));  // both come to C
  EXPECT_FALSE(dense::in_place_arrangement(a, Layout::rows({70, 60}, 6), c));  // B would be put in A's order
  EXPECT_FALSE(dense::in_place_arrangement(a, b, Layout::custom({0, 10, 50}, {0, 60}, {1, 1})));
}

TEST(HaveSameParts, AsksWhoHoldsWhat) {
  using layout::Axis;
  const Axis axis = Axis::cyclic(100, 8, 3, 1).sub(10, 90);
  EXPECT_TRUE(dense::have_same_parts(axis, Axis::cyclic(500, 8, 3, 2).sub(2, 82)));
  EXPECT_FALSE(dense::have_same_parts(axis, Axis::cyclic(500, 8, 3, 2).sub(3, 83)));
  EXPECT_FALSE(dense::have_same_parts(axis, Axis::cyclic(500, 8, 3, 0).sub(2, 82)));
  EXPECT_FALSE(dense::have_same_parts(axis, Axis::cyclic(500, 8, 4, 2).sub(2, 82)));
  EXPECT_TRUE(dense::have_same_parts(Axis::cyclic(12, 4, 3), Axis::even(12, 3)));
  EXPECT_FALSE(dense::have_same_parts(Axis::cyclic(12, 2, 3), Axis::even(12, 3)));
  EXPECT_TRUE(dense::have_same_parts(Axis::cut({0, 4, 4, 9}), Axis::cut({0, 4, 4, 9})));
  EXPECT_TRUE(dense::have_same_parts(Axis::cyclic(0, 2, 3), Axis::even(0, 3)));
}

TEST(MultiplicationChoice, KeepsToWhatIsAskedFor) {
  EXPECT_EQ(choice({500, 500, 500}, 7, {.method = Method::cannon}).arrangement.method(), Method::cannon);
  EXPECT_EQ(choice({500, 500, 500}, 12, {.mesh = {0, 0, 3}}).arrangement.mesh().layers, 3);
  EXPECT_EQ(choice({500, 500, 500}, 12, {.mesh = {4, 0, 1}}).arrangement.mesh(), (ProcessGrid{4, 3, 1}));
  EXPECT_THROW(choice({500, 500, 500}, 12, {.method = Method::in_place}), ArgumentError);  // C lies nowhere
}

}  // namespace
}  // namespace plait::test
