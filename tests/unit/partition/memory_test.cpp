// The most memory that the process held, from Linux' books: a page that was never written does not count.

#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "plait/partition/multilevel.hpp"
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

TEST(MultilevelMemory, OfALargeGridIsBelowTwiceTheGraphBesideIt) {
  const graph::Graph graph = test::grid(1500, 1500);
  std::ofstream("/proc/self/clear_refs") << 5 << std::flush;  // forgets the peak so far
  const Index before = kilobytes("VmRSS");
  if (kilobytes("VmHWM") > before + 1000) GTEST_SKIP() << "this system does not forget a process' peak of memory";
  const Bounds bounds{Vector<Index>(Index{4}, 580'000), Vector<Index>(Index{4}, 1)};
  const auto part = multilevel(graph.view(), bounds, 0);
  const Index taken = kilobytes("VmHWM") - before;
  EXPECT_LE(quality_of(graph.view(), part, 4).cut, 3100);
  const Index graph_bytes = graph.offsets.count() * 8 + graph.neighbours.count() * 4;
  EXPECT_LT(taken * 1024, 2 * graph_bytes);
}

}  // namespace
}  // namespace plait::partition
