#include "plait/mpi/mailbox.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "plait/base/backoff.hpp"
#include "plait/base/random.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/context.hpp"

#include "mpi/mpi/pretended_nodes.hpp"
#include "support/ranks.hpp"

namespace {

using plait::Index;
using plait::mpi::Context;
using plait::mpi::Mailbox;
using plait::mpi::MailboxSlot;
using plait::test::PretendedNodes;
using plait::test::test_comm;

using Record = std::vector<double>;

bool is_whole(const Record& record) {
  return std::ranges::all_of(record, [&](double each) { return each == record[0]; });
}

struct Slot : ::testing::Test {
  static constexpr Index numbers = 9;
  alignas(64) std::byte memory[64 + 128]{};
  MailboxSlot slot{memory};
  std::uint64_t seen = 0;
  Record record = Record(numbers);
};

TEST_F(Slot, has_the_last_record_once) {
  ASSERT_EQ(MailboxSlot::bytes(numbers), static_cast<Index>(sizeof(memory)));
  EXPECT_EQ(slot.take(seen, record), MailboxSlot::Outcome::nothing);
  EXPECT_TRUE(slot.put(Record(numbers, 1)));
  EXPECT_TRUE(slot.put(Record(numbers, 2)));
  EXPECT_EQ(slot.take(seen, record), MailboxSlot::Outcome::taken);
  EXPECT_EQ(record, Record(numbers, 2));
  EXPECT_EQ(slot.take(seen, record), MailboxSlot::Outcome::nothing);
}

TEST_F(Slot, gives_and_takes_nothing_while_somebody_writes_who_may_never_end) {
  EXPECT_TRUE(slot.put(Record(numbers, 1)));
  const auto claimed = slot.claim();
  ASSERT_TRUE(claimed);
  EXPECT_FALSE(slot.claim());
  EXPECT_FALSE(slot.put(Record(numbers, 2)));
  EXPECT_EQ(slot.take(seen, record), MailboxSlot::Outcome::torn);
  slot.release(*claimed);
  EXPECT_TRUE(slot.put(Record(numbers, 3)));
  EXPECT_EQ(slot.take(seen, record), MailboxSlot::Outcome::taken);
  EXPECT_EQ(record, Record(numbers, 3));
}

TEST_F(Slot, never_gives_parts_of_records_that_threads_write_meanwhile) {
  std::atomic<bool> is_over{false};
  std::vector<std::thread> writers;
  for (int w = 0; w < 2; ++w) {
    writers.emplace_back([&, w] {
      for (int i = 1; !is_over; ++i) slot.put(Record(numbers, 2.0 * i + w));
    });
  }
  std::vector<double> last(2);
  for (int taken = 0; taken < 1'000;) {
    if (slot.take(seen, record) != MailboxSlot::Outcome::taken) {
      std::this_thread::yield();  // a writer may wait for a core
      continue;
    }
    ++taken;
    EXPECT_TRUE(is_whole(record));
    double& of_writer = last[static_cast<std::size_t>(record[0]) % 2];
    EXPECT_GT(record[0], of_writer);  // each record once, the newer ones later
    of_writer = record[0];
  }
  is_over = true;
  for (std::thread& each : writers) each.join();
}

/// All ranks on a node, each on one of its own, and two on the first one.
struct Mailboxes : ::testing::TestWithParam<int> {
  std::optional<PretendedNodes> nodes;
  std::optional<Context> context;

  void SetUp() override {
    if (GetParam() > 0) nodes.emplace(std::vector<int>{GetParam(), 1, 1, 1, 1});
    context.emplace(test_comm());
  }
  [[nodiscard]] int right() const { return (context->rank() + 1) % context->size(); }
  [[nodiscard]] bool has_messages() const { return context->topology().nodes() > 1; }
};
INSTANTIATE_TEST_SUITE_P(Nodes, Mailboxes, ::testing::Values(0, 1, 2));

// Nothing but `put` and `take` is called, so these alone move messages of any length along.
TEST_P(Mailboxes, have_the_newest_record_at_last) {
  for (const Index numbers : {1, 5, 30'000}) {
    Mailbox mailbox(*context, numbers, 3);
    Record record(static_cast<std::size_t>(numbers));
    constexpr int last = 10;
    int next = 1;
    double seen = 0;
    plait::Backoff backoff;
    while (next <= last || seen < last) {
      if (next <= last && mailbox.put(right(), 2, Record(record.size(), next))) ++next;
      if (mailbox.take(2, record)) {
        ASSERT_TRUE(is_whole(record));
        ASSERT_GT(record[0], seen);
        seen = record[0];
        backoff.reset();
      } else {
        backoff.idle();
      }
    }
    EXPECT_EQ(seen, last);
    EXPECT_FALSE(mailbox.take(2, record));
    EXPECT_FALSE(mailbox.take(0, record));
    EXPECT_EQ(mailbox.counts().put, last);
  }
}

TEST_P(Mailboxes, never_give_parts_of_several_records) {
  constexpr Index numbers = 500;
  Mailbox mailbox(*context, numbers, 2);
  Record record(numbers);
  for (std::uint64_t i = 0; i < 800; ++i) {
    const auto bits = plait::random_bits(static_cast<std::uint64_t>(context->rank()), i);
    const auto to = static_cast<int>(bits % static_cast<std::uint64_t>(context->size()));
    mailbox.put(to, static_cast<Index>(bits >> 63), Record(numbers, static_cast<double>(i)));
    for (Index slot = 0; slot < 2; ++slot) {
      ASSERT_TRUE(!mailbox.take(slot, record) || is_whole(record));
    }
  }
  const auto [put, refused, taken, torn] = mailbox.counts();
  EXPECT_EQ(put + refused, 800);
}

TEST_P(Mailboxes, of_a_rank_that_does_nothing_do_not_stop_the_others) {
  constexpr Index numbers = 20'000;  // which MPI does not send before the receiver wants them
  Mailbox mailbox(*context, numbers, 4);
  Record record(numbers, 1);
  if (context->rank() != 0) {
    for (int i = 0; i < 40; ++i) mailbox.put(0, i % 4, record);
    // Two messages at a time would be without an answer.
    if (has_messages() && context->topology().node_of(context->rank()) != 0) {
      EXPECT_EQ(mailbox.counts().put, 1);
      EXPECT_EQ(mailbox.counts().refused, 39);
    }
  }
  plait::mpi::barrier(context->comm());
  Index taken = 0;
  for (Index slot = 0; slot < 4; ++slot) taken += mailbox.take(slot, record) ? 1 : 0;
  EXPECT_TRUE(context->rank() == 0 || taken == 0);
}

TEST_P(Mailboxes, that_are_gone_early_do_not_stop_the_others) {
  constexpr Index numbers = 20'000;
  auto mailbox = std::make_unique<Mailbox>(*context, numbers, 2);
  Record record(numbers, 1);
  for (int i = 0; i < 8 * context->rank(); ++i) {
    for (int to = 0; to < context->size(); ++to) mailbox->put(to, i % 2, record);
    mailbox->take(0, record);
  }
  mailbox.reset();
  EXPECT_EQ(plait::mpi::all_reduce(context->comm(), Index{1}, plait::mpi::Operation::sum()), context->size());
}

}  // namespace
