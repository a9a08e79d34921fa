// A rank that waits in a reduction for another, which waits for a message of it.
#include <numeric>

#include <gtest/gtest.h>

#include "plait/collective/node/reducer.hpp"
#include "plait/mpi/context.hpp"
#include "plait/mpi/message.hpp"

#include "mpi/collective/operands.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

using collective::NodeReducer;
using schedule::Combine;

struct ProgressInReductions : ::testing::Test {
  mpi::Context context{test_comm()};
  NodeReducer reducer{context};
  mpi::Communicator callers = mpi::Communicator::borrowed(test_comm());
  static constexpr std::size_t long_message = std::size_t{8} << 20;

  void expect_sum(Index n) {
    Words words(static_cast<std::size_t>(n), static_cast<std::uint64_t>(rank()) + 1);
    reducer.allreduce(std::span(words), simd::ReduceOperation::sum);
    EXPECT_EQ(words.back(), static_cast<std::uint64_t>(ranks() * (ranks() + 1) / 2));
  }
};

TEST_F(ProgressInReductions, is_made_by_messages_of_the_caller) {
  if (ranks() == 1) return;
  for (const Index n : {1, 10000}) {
    std::vector<std::byte> data(long_message, std::byte{1});
    mpi::Request sending;
    if (rank() == 0) sending = mpi::start_send(callers, data, ranks() - 1, 5);
    if (rank() == ranks() - 1) mpi::receive_bytes(callers, data, 0, 5);
    expect_sum(n);
    sending.wait();
  }
}

// Sends, when it is moved along, what another rank waits for.
struct Sender : mpi::Activity {
  explicit Sender(mpi::Context& of) : context(of) { context.activities().enlist(*this); }
  ~Sender() override { context.activities().dismiss(*this); }
  bool advance() noexcept override {
    if (sent) return false;
    sent = true;
    const std::byte byte{7};
    mpi::send_bytes(context.comm(), {&byte, 1}, context.size() - 1, 3);
    return true;
  }
  mpi::Context& context;
  bool sent = false;
};

TEST_F(ProgressInReductions, is_made_by_activities_of_the_context) {
  if (ranks() == 1) return;
  for (const Index n : {1, 10000}) {
    if (rank() == 0) {
      const Sender sender(context);
      expect_sum(n);
      EXPECT_TRUE(sender.sent);
    } else {
      std::byte byte{0};
      if (rank() == ranks() - 1) mpi::receive_bytes(context.comm(), {&byte, 1}, 0, 3);
      expect_sum(n);
    }
  }
}

}  // namespace
}  // namespace plait::test
