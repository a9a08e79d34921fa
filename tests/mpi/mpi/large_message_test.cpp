// More bytes than an int can count.
#include <climits>
#include <cstddef>
#include <cstring>
#include <span>

#include <gtest/gtest.h>

#include "plait/base/memory.hpp"
#include "plait/base/random.hpp"
#include "plait/mpi/communicator.hpp"
#include "plait/mpi/message.hpp"

#include "support/ranks.hpp"

namespace {

using plait::Buffer;
using plait::Index;
using plait::mpi::Communicator;
using plait::test::test_comm;

constexpr Index bytes = (Index{1} << 31) + (Index{64} << 20) + 12345;
static_assert(bytes > INT_MAX);

// Eight bytes of the seed and the page at the beginning of each page, and the place itself around the places where
// counts of 31 and 32 bits, pieces and types end.
struct Pattern {
  static constexpr Index page = 4096;

  static void set(Buffer& buffer, std::uint64_t seed) {
    for (Index at = 0; at + 8 <= buffer.size(); at += page) {
      const std::uint64_t value = plait::random_bits(seed, static_cast<std::uint64_t>(at));
      std::memcpy(buffer.data() + at, &value, 8);
    }
    each_edge([&](Index at) { buffer.data()[at] = static_cast<std::byte>(at % 251); });
  }

  static Index count_wrong(const Buffer& buffer, std::uint64_t seed) {
    Index wrong = 0;
    for (Index at = 0; at + 8 <= buffer.size(); at += page) {
      if (is_near_edge(at)) continue;
      std::uint64_t value = 0;
      std::memcpy(&value, buffer.data() + at, 8);
      wrong += value == plait::random_bits(seed, static_cast<std::uint64_t>(at)) ? 0 : 1;
    }
    each_edge([&](Index at) { wrong += buffer.data()[at] == static_cast<std::byte>(at % 251) ? 0 : 1; });
    return wrong;
  }

 private:
  static constexpr Index edges[] = {Index{1} << 26, Index{1} << 30, Index{INT_MAX}, Index{1} << 31, bytes};
  static constexpr Index around = 200;

  template <class F>
  static void each_edge(F f) {
    for (const Index edge : edges) {
      for (Index at = edge - around; at < edge + around && at < bytes; ++at) f(at);
    }
  }
  static bool is_near_edge(Index at) {
    for (const Index edge : edges) {
      if (at + 8 > edge - around && at < edge + around) return true;
    }
    return false;
  }
};

// Rank 0 fills and sends, rank 1 receives; its memory is touched by that only.
TEST(LargeMessages, arrive_whole_in_pieces_and_in_one) {
  const Communicator comm = Communicator::duplicate(test_comm());
  Buffer memory(comm.rank() <= 1 ? bytes : 0);
  if (comm.rank() == 0) {
    Pattern::set(memory, 1);
    plait::mpi::send<std::byte>(comm, memory.bytes(), 1, 0);
    Pattern::set(memory, 2);
    plait::mpi::start_send(comm, memory.bytes(), 1, 0).wait();
  } else if (comm.rank() == 1) {
    plait::mpi::receive<std::byte>(comm, memory.bytes(), 0, 0);
    EXPECT_EQ(Pattern::count_wrong(memory, 1), 0) << "cut into pieces";
    plait::mpi::start_receive(comm, memory.bytes(), 0, 0).wait();
    EXPECT_EQ(Pattern::count_wrong(memory, 2), 0) << "as one item of a derived type";
  }
}

}  // namespace
