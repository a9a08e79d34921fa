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

}  // namespace
}  // namespace plait::redistribute
