// That the variables which force rendezvous still do, where the program was started with them.
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "plait/mpi/collectives.hpp"
#include "plait/mpi/context.hpp"
#include "plait/mpi/message.hpp"

#include "support/ranks.hpp"

namespace {

TEST(Rendezvous, is_forced_where_it_was_asked_for) {
  plait::mpi::Context context(plait::test::test_comm());
  std::vector<std::byte> out(300, std::byte{1});
  std::vector<std::byte> in(300);
  const int right = (context.rank() + 1) % context.size();
  const int left = (context.rank() + context.size() - 1) % context.size();
  plait::mpi::Request sending = plait::mpi::start_send(context.comm(), out, right, 0);
  if (std::getenv("PLAIT_TEST_RENDEZVOUS") != nullptr) {
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
    EXPECT_FALSE(sending.test()) << "a short message was sent before its receiver was there";
  }
  plait::mpi::barrier(context.comm());
  plait::mpi::start_receive(context.comm(), in, left, 0).wait();
  sending.wait();
  EXPECT_EQ(in, out);
}

}  // namespace
