#include "plait/base/memory.hpp"

#include <algorithm>
#include <cstdint>
#include <new>
#include <utility>

#include <gtest/gtest.h>

#include "plait/base/contract.hpp"

#if defined(__SANITIZE_ADDRESS__)
// Memory that can't be had ends the program otherwise.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
#endif

namespace {

using plait::Array;
using plait::Buffer;
using plait::Index;

std::uintptr_t address(const Buffer& buffer) { return reinterpret_cast<std::uintptr_t>(buffer.data()); }

TEST(Buffer, begins_on_a_cache_line) {
  for (const Index bytes : {1, 2, 63, 64, 65, 1000, 4095, 1 << 20}) {
    const Buffer buffer(bytes);
    EXPECT_EQ(address(buffer) % Buffer::alignment, 0U) << bytes;
    EXPECT_EQ(buffer.size(), bytes);
    EXPECT_EQ(buffer.bytes().size(), static_cast<std::size_t>(bytes));
    std::fill(buffer.bytes().begin(), buffer.bytes().end(), std::byte{0x5a});
  }
}

TEST(Buffer, of_two_huge_pages_or_more_begins_on_a_huge_page) {
  const auto two_pages = static_cast<Index>(2 * Buffer::huge_page_bytes);
  for (const Index bytes : {two_pages, two_pages + 1, 3 * two_pages - 1}) {
    const Buffer buffer(bytes);
    EXPECT_EQ(address(buffer) % Buffer::huge_page_bytes, 0U) << bytes;
    buffer.bytes().front() = std::byte{1};
    buffer.bytes().back() = std::byte{2};
  }
}

TEST(Buffer, of_nothing_has_no_memory) {
  EXPECT_EQ(Buffer().data(), nullptr);
  EXPECT_EQ(Buffer(0).data(), nullptr);
  EXPECT_TRUE(Buffer(0).bytes().empty());
}

TEST(Buffer, hands_its_memory_over) {
  Buffer first(100);
  std::byte* const memory = first.data();
  Buffer second(std::move(first));
  EXPECT_EQ(second.data(), memory);
  EXPECT_EQ(second.size(), 100);
  Buffer third(7);
  third = std::move(second);
  EXPECT_EQ(third.data(), memory);
  EXPECT_EQ(third.size(), 100);
}

TEST(Buffer, that_can_not_be_had_is_a_bad_allocation) { EXPECT_THROW(Buffer(Index{1} << 62), std::bad_alloc); }

#if PLAIT_ASSERT_LEVEL >= 1
TEST(Buffer, has_no_negative_size) { EXPECT_THROW(Buffer(-1), plait::ContractViolation); }
#endif

TEST(Array, holds_as_many_elements_as_asked_for) {
  const Array<double> array(1000);
  ASSERT_EQ(array.size(), 1000);
  ASSERT_EQ(array.span().size(), 1000U);
  for (Index i = 0; i < array.size(); ++i) array[i] = static_cast<double>(i);
  EXPECT_EQ(array.span().back(), 999);
  EXPECT_EQ(&array[999] + 1, array.data() + array.size());
  EXPECT_EQ(Array<int>().size(), 0);
}

}  // namespace
