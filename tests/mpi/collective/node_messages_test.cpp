#include <stdexcept>

#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/collective/node/messages.hpp"
#include "plait/mpi/context.hpp"

#include "mpi/collective/operands.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

using collective::node::Deliver;
using collective::node::Messages;
using collective::node::Reduction;
using collective::node::Wait;
using schedule::Combine;

struct MessagesOfANode : ::testing::Test {
  mpi::Context context{test_comm()};
  Wait wait{context};
  Messages messages{context, wait};
  Mix mix;
  Combine mixing = Combine::elementwise<std::uint64_t>(mix);
  std::vector<Index> begins = std::vector<Index>(static_cast<std::size_t>(ranks()) + 1);

  // In place or not, to whom it may be.
  Words reduced(std::uint64_t seed, Index n, Deliver deliver, bool in_place, const Combine& combine) {
    Words in = operands(seed, rank(), n);
    Words out = in_place ? Words() : Words(in.size());
    Words& result = in_place ? in : out;
    collective::node::divide_equally(n, 8, begins);
    messages.run({&combine, reinterpret_cast<const std::byte*>(in.data()), reinterpret_cast<std::byte*>(result.data()),
                  n, deliver, 0, begins});
    return result;
  }
};

TEST_F(MessagesOfANode, reduce_in_the_order_of_ranks) {
  std::uint64_t seed = 0;
  for (const Index n : {1, 100, 2047, 2048, 2049, 10000}) {
    for (const bool in_place : {false, true}) {
      SCOPED_TRACE(testing::Message() << n << " in place " << in_place);
      ++seed;
      ASSERT_EQ(reduced(seed, n, Deliver::to_all, in_place, mixing), mixed(seed, ranks(), 0, n));

      const Words at_root = reduced(++seed, n, Deliver::to_root, in_place, mixing);
      if (rank() == 0) {
        ASSERT_EQ(at_root, mixed(seed, ranks(), 0, n));
      }

      ++seed;
      ASSERT_EQ(reduced(seed, n, Deliver::up_to_itself, in_place, mixing), mixed(seed, rank() + 1, 0, n));
      if (rank() > 0) {
        ASSERT_EQ(reduced(seed, n, Deliver::up_to_the_last, in_place, mixing), mixed(seed, rank(), 0, n));
      } else {
        reduced(seed, n, Deliver::up_to_the_last, in_place, mixing);
      }

      Words share = reduced(++seed, n, Deliver::to_owners, in_place, mixing);
      const auto own = static_cast<std::size_t>(rank());
      const Words expected = mixed(seed, ranks(), begins[own], begins[own + 1]);
      share.resize(expected.size());
      ASSERT_EQ(share, expected);
    }
  }
}

TEST_F(MessagesOfANode, tell_all_ranks_of_a_failure) {
  const auto fail = [](std::uint64_t a, std::uint64_t b) {
    if (rank() == ranks() - 1) throw std::runtime_error("can not combine");
    return Mix{}(a, b);
  };
  if (ranks() == 1) return;
  const Combine failing = Combine::elementwise<std::uint64_t>(fail);
  if (rank() == ranks() - 1) {
    EXPECT_THROW(reduced(1, 5000, Deliver::to_all, false, failing), std::runtime_error);
  } else {
    EXPECT_THROW(reduced(1, 5000, Deliver::to_all, false, failing), PeerFailed);
  }
  EXPECT_EQ(reduced(2, 5000, Deliver::to_all, false, mixing), mixed(2, ranks(), 0, 5000));
}

}  // namespace
}  // namespace plait::test
