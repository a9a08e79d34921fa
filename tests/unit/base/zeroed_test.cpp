#include "plait/base/zeroed.hpp"

#include <algorithm>
#include <cstdint>

#include <gtest/gtest.h>

#include "plait/base/memory.hpp"

namespace {

using plait::Buffer;
using plait::ZeroedVector;

TEST(ZeroedVector, is_of_zeros_also_where_others_had_the_memory_before) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{1000}, std::size_t{1} << 20, 2 * Buffer::huge_page_bytes,
                                  5 * Buffer::huge_page_bytes + 7}) {
    for (int round = 0; round < 3; ++round) {
      ZeroedVector<char> values(bytes);
      EXPECT_TRUE(std::ranges::all_of(values, [](char value) { return value == 0; })) << bytes;
      const std::size_t unit = bytes < 2 * Buffer::huge_page_bytes ? Buffer::alignment : Buffer::huge_page_bytes;
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(values.data()) % unit, 0U) << bytes;
      std::ranges::fill(values, 'x');
    }
  }
}

TEST(ZeroedVector, keeps_values_that_it_is_given) {
  ZeroedVector<double> values(3, 7.);
  values[1] = 0;
  const ZeroedVector<double> copy = values;
  values.push_back(5);
  EXPECT_EQ(copy, (ZeroedVector<double>{7, 0, 7}));
  EXPECT_EQ(values, (ZeroedVector<double>{7, 0, 7, 5}));
}

}  // namespace
