#include "plait/io/byte_order.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "plait/base/random.hpp"

namespace plait::io {
namespace {

TEST(SwapBytes, ReversesEveryNumberAtAnyLengthAndAlignment) {
  for (const Index unit : {1, 2, 4, 8}) {
    const auto seed = static_cast<std::uint64_t>(unit);
    for (const Index count : {0, 1, 2, 3, 7, 8, 31, 64, 1001}) {
      for (std::size_t misaligned = 0; misaligned < 3; ++misaligned) {
        const auto size = static_cast<std::size_t>(unit * count);
        constexpr std::size_t guard = 16;
        std::vector<std::byte> memory(misaligned + size + guard);
        for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::byte>(random_bits(seed, i));
        auto expected = memory;
        for (std::size_t at = misaligned; at < misaligned + size; at += static_cast<std::size_t>(unit)) {
          const auto number = expected.begin() + static_cast<std::ptrdiff_t>(at);
          std::reverse(number, number + unit);
        }
        swap_bytes(std::span(memory).subspan(misaligned, size), unit);
        EXPECT_EQ(memory, expected) << count << " numbers of " << unit << " bytes, misaligned by " << misaligned;
      }
    }
  }
}

}  // namespace
}  // namespace plait::io
