// The most memory that the process held, from Linux' books: a page that was never written does not count.

#include <algorithm>
#include <fstream>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plait/partition/bisection.hpp"
#include "plait/partition/quality.hpp"

#include "unit/partition/graphs.hpp"

namespace plait::partition {
namespace {

Index kilobytes(const std::string& what) {
  std::ifstream file("/proc/self/status");
  for (std::string word; file >> word;) {
    Index value = 0;
    if (word == what + ":" && file >> value) return value;
  }
  return 0;
}

/// \pre  it is a grid of 1500 x 1500
void expect_little_memory(const graph::Graph& graph) {
  std::ofstream("/proc/self/clear_refs") << 5 << std::flush;  // forgets the peak so far
  const Index before = kilobytes("VmRSS");
  if (kilobytes("VmHWM") > before + 1000) GTEST_SKIP() << "this system does not forget a process' peak of memory";
  const Bounds bounds{Vector<Index>(Index{4}, 580'000), Vector<Index>(Index{4}, 1)};
  const auto part = test::multilevel(graph.view(), bounds, 0);
  const Index taken = kilobytes("VmHWM") - before;
  EXPECT_LE(quality_of(graph.view(), part, 4).cut, 3100);
  const Index graph_bytes = graph.offsets.count() * 8 + graph.neighbours.count() * 4;
  EXPECT_LT(taken * 1024, 2 * graph_bytes);
}

TEST(MultilevelMemory, OfALargeGridIsBelowTwiceTheGraphBesideIt) { expect_little_memory(test::grid(1500, 1500)); }

TEST(MultilevelMemory, OfALargeGridThatIsNumberedAtRandomIsBelowTwiceTheGraphBesideIt) {
  std::vector<graph::Vertex> names(1500 * 1500);
  std::iota(names.begin(), names.end(), 0);
  std::mt19937 random(8);  // NOLINT: the same data each time
  std::ranges::shuffle(names, random);
  std::vector<graph::Vertex> number(names.size());
  expect_little_memory(subgraph(test::grid(1500, 1500).view(), names, number));
}

}  // namespace
}  // namespace plait::partition
