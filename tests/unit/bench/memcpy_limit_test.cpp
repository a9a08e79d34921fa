#include "bench/harness/memcpy_limit.hpp"

#include <omp.h>

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
  const int usual = omp_get_max_threads();
  for (const int threads : {1, 3}) {
    omp_set_num_threads(threads);
    for (const Contender& limit : memcpy_limits(target.data(), source.data(), bytes)) {
      std::ranges::fill(target.span(), std::byte{255});
      limit.run();
      EXPECT_TRUE(std::ranges::equal(source.span(), target.span().first(bytes))) << limit.name << ", " << threads;
      EXPECT_EQ(target[bytes], std::byte{255}) << limit.name << ", " << threads;
    }
  }
  omp_set_num_threads(usual);
}

TEST(UpdateLimit, it_adds_to_every_element) {
  constexpr Index count = 1003;
  const Array<double> source(count), target(count);
  const int usual = omp_get_max_threads();
  for (const int threads : {1, 3}) {
    omp_set_num_threads(threads);
    for (Index i = 0; i < count; ++i) source[i] = static_cast<double>(i), target[i] = static_cast<double>(3 * i);
    update_limit(target.span(), source.span(), 2).run();
    for (Index i = 0; i < count; ++i) ASSERT_EQ(target[i], static_cast<double>(7 * i)) << i << ", " << threads;
  }
  omp_set_num_threads(usual);
}

}  // namespace
}  // namespace plait::bench
