// What each role has to do, against the formulas of the literature.

#include "plait/dense/arrangement.hpp"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/dense/arrangement_traffic.hpp"
#include "plait/dense/choice.hpp"
#include "plait/model/machine.hpp"

namespace plait::test {
namespace {

using dense::Arrangement;
using dense::Choice;
using dense::Cut;
using dense::Mesh;
using dense::Method;

constexpr Index n = 48;
constexpr Cut whole{.panel_terms = n, .a_segment = n * n, .b_segment = n * n, .c_segment = n * n};

collective::Exchanged traffic(Method method, const Mesh& mesh, int role, const Cut& cut = whole) {
  return product_traffic(Arrangement({n, n, n}, method, mesh), cut, 1, role);
}

TEST(ProductTraffic, OfARingIsAllOfOneMatrix) {
  for (const int p : {2, 3, 6}) {
    for (const Mesh& mesh : {Mesh{p, 1, 1}, Mesh{1, p, 1}}) {
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
      EXPECT_EQ(cannon.a_part(cannon.place(role)), cannon.b_part(cannon.place(role)));
      EXPECT_EQ(cannon.role(cannon.place(role)), role);
    }
  }
}

TEST(Arrangement, PanelsAreAllTermsOfALayer) {
  for (const Mesh& mesh : {Mesh{2, 3, 1}, Mesh{3, 2, 2}, Mesh{1, 5, 3}, Mesh{4, 4, 1}}) {
    const Arrangement arrangement({10, 10, 47}, Method::summa, mesh);
    std::set<Index> seen;
    for (int layer = 0; layer < mesh.layers; ++layer) {
      for (const dense::Panel& panel : dense::panels(arrangement, layer, 5)) {
        EXPECT_LE(panel.terms.length(), 5);
        const dense::Span a = arrangement.a_terms(layer, panel.a_part);
        const dense::Span b = arrangement.b_terms(layer, panel.b_part);
        EXPECT_TRUE(a.begin <= panel.terms.begin && panel.terms.end <= a.end);
        EXPECT_TRUE(b.begin <= panel.terms.begin && panel.terms.end <= b.end);
        for (Index term = panel.terms.begin; term < panel.terms.end; ++term) EXPECT_TRUE(seen.insert(term).second);
      }
    }
    EXPECT_EQ(seen.size(), 47U);
  }
}

Choice choice(const dense::ProductShape& shape, int ranks, const dense::MultiplicationOptions& options = {}) {
  return dense::choose(shape, model::default_machine(), {ranks, 1}, 8, options);
}

TEST(MultiplicationChoice, FollowsTheShape) {
  EXPECT_EQ(choice({100000, 100, 100}, 8).arrangement.mesh(), (Mesh{8, 1, 1}));
  EXPECT_EQ(choice({100, 100000, 100}, 8).arrangement.mesh(), (Mesh{1, 8, 1}));
  EXPECT_EQ(choice({100, 100, 100000}, 8).arrangement.mesh(), (Mesh{1, 1, 8}));
  EXPECT_EQ(choice({3000, 3000, 3000}, 8).arrangement.mesh(), (Mesh{2, 2, 2}));
  EXPECT_EQ(choice({3000, 3000, 3000}, 1).arrangement.mesh(), (Mesh{1, 1, 1}));
}

TEST(MultiplicationChoice, TakesFewerLayersWhereMemoryIsShort) {
  const dense::ProductShape shape{2000, 2000, 2000};
  const Choice free = choice(shape, 64);
  EXPECT_EQ(free.arrangement.mesh(), (Mesh{4, 4, 4}));
  int layers = 4;
  for (Index limit = free.workspace_bytes; layers > 1; limit = limit * 9 / 10) {
    const Choice limited = choice(shape, 64, {.memory_limit = limit});
    EXPECT_LE(limited.workspace_bytes, limit);
    EXPECT_LE(limited.arrangement.mesh().layers, layers);
    layers = limited.arrangement.mesh().layers;
  }
}

TEST(MultiplicationChoice, KeepsToWhatIsAskedFor) {
  EXPECT_EQ(choice({500, 500, 500}, 7, {.method = Method::cannon}).arrangement.method(), Method::cannon);
  EXPECT_EQ(choice({500, 500, 500}, 12, {.mesh = {0, 0, 3}}).arrangement.mesh().layers, 3);
  EXPECT_EQ(choice({500, 500, 500}, 12, {.mesh = {4, 0, 1}}).arrangement.mesh(), (Mesh{4, 3, 1}));
}

}  // namespace
}  // namespace plait::test
