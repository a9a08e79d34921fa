#include "plait/mpi/node/shared_window.hpp"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/capability.h>

#include "plait/base/contract.hpp"
#include "plait/base/error.hpp"
#include "plait/base/memory.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/context.hpp"
#include "plait/mpi/node/shared_file.hpp"

#include "support/ranks.hpp"

namespace {

using plait::Index;
using plait::mpi::Communicator;
using plait::mpi::Context;
using plait::mpi::SharedWindow;
using plait::test::test_comm;

struct SharedWindows : ::testing::Test {
  Context context{test_comm()};
  const Communicator& node = context.topology().node();

  static void expect_aligned(const SharedWindow& window, int ranks) {
    for (int rank = 0; rank < ranks; ++rank) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(window.segment(rank).data()) % 64, 0U) << "segment of rank " << rank;
    }
  }

  // Every rank writes its own segment, then reads those of all.
  void expect_shared(const SharedWindow& window, const std::vector<Index>& sizes) const {
    const auto byte_of = [](int rank, std::size_t i) {
      return static_cast<std::byte>(17 * rank + static_cast<int>(i % 97));
    };
    const auto own = window.segment(node.rank());
    for (std::size_t i = 0; i < own.size(); ++i) own[i] = byte_of(node.rank(), i);
    plait::mpi::barrier(node);
    for (int rank = 0; rank < node.size(); ++rank) {
      const auto segment = window.segment(rank);
      ASSERT_EQ(segment.size(), static_cast<std::size_t>(sizes[static_cast<std::size_t>(rank)]));
      Index wrong = 0;
      for (std::size_t i = 0; i < segment.size(); ++i) wrong += segment[i] == byte_of(rank, i) ? 0 : 1;
      EXPECT_EQ(wrong, 0) << "segment of rank " << rank;
    }
    plait::mpi::barrier(node);
  }
};

TEST_F(SharedWindows, are_seen_alike_by_all_ranks) {
  for (const Index unit : {Index{1}, Index{63}, Index{64}, Index{1000}, Index{100000}, Index{5} << 20}) {
    std::vector<Index> sizes;
    for (int rank = 0; rank < node.size(); ++rank) sizes.push_back(unit + rank);
    const SharedWindow window(node, sizes[static_cast<std::size_t>(node.rank())]);
    expect_aligned(window, node.size());
    expect_shared(window, sizes);
  }
}

TEST_F(SharedWindows, begin_on_huge_pages_where_they_are_as_long) {
  constexpr Index huge = plait::Buffer::huge_page_bytes;
  for (const Index bytes : {huge, huge + 1, 3 * huge - 1}) {
    const std::vector<Index> sizes(static_cast<std::size_t>(node.size()), bytes);
    const SharedWindow window(node, bytes);
    for (int rank = 0; rank < node.size(); ++rank) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(window.segment(rank).data()) % huge, 0U)
          << bytes << " bytes of rank " << rank;
    }
    expect_shared(window, sizes);
  }
}

TEST_F(SharedWindows, may_have_segments_of_nothing) {
  for (int owner = 0; owner < node.size(); ++owner) {
    std::vector<Index> sizes(static_cast<std::size_t>(node.size()), 0);
    sizes[static_cast<std::size_t>(owner)] = 4097;
    const SharedWindow window(node, sizes[static_cast<std::size_t>(node.rank())]);
    expect_aligned(window, node.size());
    expect_shared(window, sizes);
  }
  const SharedWindow nothing(node, 0);
  EXPECT_TRUE(nothing.segment(0).empty());
}

TEST_F(SharedWindows, move) {
  const std::vector<Index> sizes(static_cast<std::size_t>(node.size()), 100);
  SharedWindow first(node, 100);
  std::byte* const data = first.segment(0).data();
  SharedWindow second(std::move(first));
  EXPECT_EQ(second.segment(0).data(), data);
  SharedWindow third;
  third = std::move(second);
  expect_shared(third, sizes);
}

TEST_F(SharedWindows, that_are_too_large_are_refused_on_every_rank) {
  // On one rank only, on all, and more than can be added up.
  for (const Index bytes : {Index{1} << 50, Index{1} << 62, std::numeric_limits<Index>::max()}) {
    for (const bool all : {true, false}) {
      try {
        const SharedWindow window(node, all || node.rank() == 0 ? bytes : 10);
        ADD_FAILURE() << bytes << " bytes were had";
      } catch (const plait::OutOfMemory& error) {
        EXPECT_THAT(error.what(), ::testing::HasSubstr("shared memory"));
      }
    }
  }
  const SharedWindow window(node, 10);
  EXPECT_EQ(window.segment(0).size(), 10U) << "and others can be had afterwards";
}

TEST_F(SharedWindows, give_their_memory_back) {
  for (int i = 0; i < 300; ++i) {
    const SharedWindow window(node, Index{8} << 20);
    window.segment(node.rank()).back() = std::byte{1};
  }
}

// How many files of this process have a name.
std::ptrdiff_t names_of_this_process() {
  const std::string prefix = "plait-" + std::to_string(::getpid()) + "-";
  const auto is_own = [&](const auto& entry) { return entry.path().filename().string().starts_with(prefix); };
  return std::ranges::count_if(std::filesystem::directory_iterator("/dev/shm"), is_own);
}

// Whoever is killed amid all this has nothing to take away.
TEST_F(SharedWindows, have_no_names_at_any_moment) {
  std::atomic<bool> ended = false;
  std::ptrdiff_t most = 0;
  std::thread watching([&] {
    while (!ended) most = std::max(most, names_of_this_process());
  });
  for (int i = 0; i < 100; ++i) {
    const SharedWindow window(node, Index{64} << 10);
    EXPECT_EQ(window.segment(0).size(), std::size_t{64} << 10);
  }
  ended = true;
  watching.join();
  EXPECT_EQ(most, 0);
}

// While it lives, this process is one that others may not look at, and may not look at such others itself.
class Secluded {
 public:
  Secluded() {
    ::syscall(SYS_capget, &header_, capabilities_.data());
    auto fewer = capabilities_;
    fewer[0].effective &= ~(1U << CAP_SYS_PTRACE);
    ::syscall(SYS_capset, &header_, fewer.data());
    ::prctl(PR_SET_DUMPABLE, 0);
  }
  Secluded(const Secluded&) = delete;
  Secluded& operator=(const Secluded&) = delete;
  ~Secluded() {
    ::prctl(PR_SET_DUMPABLE, 1);
    ::syscall(SYS_capset, &header_, capabilities_.data());
  }

 private:
  __user_cap_header_struct header_{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> capabilities_{};
};

TEST_F(SharedWindows, are_made_by_name_where_processes_may_not_look_at_each_other) {
  const std::vector<Index> sizes(static_cast<std::size_t>(node.size()), 5000);
  SharedWindow window;
  {
    const Secluded secluded;
    const plait::mpi::SharedFile own = plait::mpi::SharedFile::without_name();
    ASSERT_TRUE(own.is_open());
    const auto all = plait::mpi::all_gather(node, own.address());
    const auto& next = all[static_cast<std::size_t>((node.rank() + 1) % node.size())];
    EXPECT_EQ(plait::mpi::SharedFile::of_other(next).is_open(), node.size() == 1) << "the test is of no use";
    plait::mpi::barrier(node);
    window = SharedWindow(node, 5000);
    plait::mpi::barrier(node);
  }
  expect_shared(window, sizes);
  EXPECT_EQ(names_of_this_process(), 0);
}

TEST_F(SharedWindows, do_not_take_another_file_for_the_one_that_is_meant) {
  const plait::mpi::SharedFile own = plait::mpi::SharedFile::without_name();
  ASSERT_TRUE(own.is_open());
  plait::mpi::SharedFile::Address address = own.address();
  EXPECT_TRUE(plait::mpi::SharedFile::of_other(address).is_open());
  address.inode += 1;
  EXPECT_FALSE(plait::mpi::SharedFile::of_other(address).is_open());
  address = own.address();
  address.descriptor = STDERR_FILENO;
  EXPECT_FALSE(plait::mpi::SharedFile::of_other(address).is_open());
}

}  // namespace
