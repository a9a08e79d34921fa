#include "bench/harness/memcpy_limit.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "plait/base/memory.hpp"

namespace plait::bench {
namespace {

TEST(MemcpyLimit, each_copies_all_bytes_and_no_more) {
  constexpr Index bytes = 100'003;
  const Array<std::byte> source(bytes);
  const Array<std::byte> target(bytes + 1);
  for (Index i = 0; i < bytes; ++i) source[i] = static_cast<std::byte>(i % 251);
  for (const Contender& limit : memcpy_limits(target.data(), source.data(), bytes)) {
    std::ranges::fill(target.span(), std::byte{255});
    limit.run();
    EXPECT_TRUE(std::ranges::equal(source.span(), target.span().first(bytes))) << limit.name;
    EXPECT_EQ(target[bytes], std::byte{255}) << limit.name;
  }
}

}  // namespace
}  // namespace plait::bench
