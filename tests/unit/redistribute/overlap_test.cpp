#include "plait/redistribute/overlap.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plait/base/random.hpp"

namespace plait::redistribute {
namespace {

constexpr Index element = 8;

std::set<const std::byte*> elements_of(const TileMemory& memory) {
  std::set<const std::byte*> result;
  for (Index j = 0; j < memory.major; ++j) {
    for (Index i = 0; i < memory.minor; ++i) {
      result.insert(memory.tile.data + (j * memory.tile.leading_dimension + i) * element);
    }
  }
  return result;
}

bool have_common_elements(const TileMemory& a, const TileMemory& b) {
  const auto mine = elements_of(a);
  return std::ranges::any_of(elements_of(b), [&](const std::byte* place) { return mine.contains(place); });
}

TEST(CommonMemory, IsFoundExactlyInSubmatricesOfOneArrayAndSingleColumns) {
  const std::uint64_t seed = 20261123;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::uint64_t counter = 0;
  const auto up_to = [&](Index bound) {
    return static_cast<Index>(random_bits(seed, counter++) % static_cast<std::uint64_t>(bound + 1));
  };
  std::vector<std::byte> memory(1000 * element);
  int met = 0;
  for (int i = 0; i < 5000; ++i) {
    const Index leading = 1 + up_to(8);
    const auto tile = [&](bool is_single) {
      const Index minor = up_to(leading);
      const auto order = is_single && up_to(1) == 0 ? StorageOrder::row_major : StorageOrder::column_major;
      const Index own_leading = is_single ? std::max(minor, Index{1}) + up_to(3) : leading;
      return TileMemory{{memory.data() + up_to(60) * element, own_leading, order}, minor, is_single ? 1 : up_to(6)};
    };
    const TileMemory a = tile(i % 3 == 1);
    const TileMemory b = tile(i % 3 == 2);
    const bool meet = have_common_elements(a, b);
    ASSERT_EQ(have_common_memory(a, b, element), meet) << i;
    met += meet ? 1 : 0;
  }
  EXPECT_GT(met, 500);
  EXPECT_LT(met, 4500);
}

TEST(OverlapSearch, LooksAtThosePairsAloneThatItIsToldConcernIt) {
  std::vector<std::byte> memory(100 * element);
  const auto column = [&](Index first, Index length) {
    return TileMemory{{memory.data() + first * element, length, StorageOrder::column_major}, length, 1};
  };
  const std::vector<TileMemory> tiles{column(0, 10), column(5, 10), column(40, 5), column(12, 3)};
  OverlapSearch search;
  EXPECT_EQ(search.find(tiles, tiles, element).source, 0) << "each meets itself";
  const auto later = search.find(tiles, tiles, element, [](std::size_t a, std::size_t b) { return a > b; });
  EXPECT_EQ(later.source, 1);
  EXPECT_EQ(later.target, 0);
  const auto last = search.find(tiles, tiles, element, [](std::size_t a, std::size_t b) { return a > b && a > 1; });
  EXPECT_EQ(last.source, 3);
  EXPECT_EQ(last.target, 1);
  const auto none = search.find(tiles, tiles, element, [](std::size_t a, std::size_t b) { return a > b && b > 1; });
  EXPECT_EQ(none.source, -1);
}

}  // namespace
}  // namespace plait::redistribute
