// What a call does when combining throws: it ends on all ranks, all of them know, and the next call works.
#include <array>
#include <stdexcept>

#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/collective/node/reducer.hpp"
#include "plait/mpi/context.hpp"

#include "mpi/collective/operands.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

using collective::NodeReducer;
using schedule::Combine;

// The operation of a rank that fails at some elements.
struct Failing {
  bool fails;
  std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const {
    if (fails) throw std::runtime_error("can not combine");
    return Mix{}(a, b);
  }
};

struct FailingReductions : ::testing::Test {
  mpi::Context context{test_comm()};
  NodeReducer reducer{context};

  template <class Call>
  void expect_failure_of(int failing, Call call) {
    const Failing failing_mix{rank() == failing};
    const Combine combine = Combine::elementwise<std::uint64_t>(failing_mix);
    if (rank() == failing) {
      EXPECT_THROW(call(combine), std::runtime_error);
      return;
    }
    try {
      call(combine);
      ADD_FAILURE() << "rank " << rank() << " knows nothing of the failure";
    } catch (const PeerFailed& error) {
      EXPECT_EQ(error.rank(), failing);
    }
  }

  void expect_all_is_well(std::uint64_t seed) {
    const Failing whole{false};
    for (const Index n : {3, 3000}) {
      Words words = operands(seed, rank(), n);
      reducer.allreduce(std::span(words), whole);
      ASSERT_EQ(words, mixed(seed, ranks(), 0, n));
      words = operands(seed, rank(), n);
      reducer.allreduce(std::span(words), Mix{});
      ASSERT_EQ(words, mixed(seed, ranks(), 0, n));
    }
  }
};

TEST_F(FailingReductions, are_known_to_all_ranks) {
  if (ranks() == 1) return;
  std::uint64_t seed = 0;
  const Index longest = 64 * 1024;
  const mpi::SharedMemory memory = context.allocate_shared(longest * ranks() * 8);
  for (int failing = 0; failing < ranks(); ++failing) {
    for (const Index n : {Index{64} * ranks(), longest}) {
      for (const bool shared : {false, true}) {
        SCOPED_TRACE(testing::Message() << n << " words, shared " << shared);
        Words own = operands(++seed, rank(), n * ranks());
        std::uint64_t* words = shared ? reinterpret_cast<std::uint64_t*>(memory.bytes().data()) : own.data();
        if (shared) std::copy(own.begin(), own.end(), words);
        expect_failure_of(failing, [&](const Combine& combine) { reducer.allreduce(words, words, n, combine); });
        expect_failure_of(failing,
                          [&](const Combine& combine) { reducer.reduce_scatter_block(words, words, n, combine); });
        if (ranks() > 2 || failing == 1) {  // whoever combines something
          expect_failure_of(failing, [&](const Combine& combine) { reducer.reduce(words, words, n, 1, combine); });
        }
        if (failing > 0) {
          expect_failure_of(failing, [&](const Combine& combine) { reducer.scan(words, words, n, combine); });
        }
        expect_all_is_well(seed);
      }
    }
  }
}

TEST_F(FailingReductions, of_all_ranks_give_each_its_own_error) {
  if (ranks() == 1) return;
  const Failing failing{true};
  for (int repetition = 0; repetition < 3; ++repetition) {
    Words words(static_cast<std::size_t>(64 * ranks()), 1);
    EXPECT_THROW(reducer.allreduce(std::span(words), failing), std::runtime_error);
  }
  expect_all_is_well(9);
}

}  // namespace
}  // namespace plait::test
