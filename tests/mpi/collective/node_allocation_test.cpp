// A repeated reduction allocates nothing.
#include <vector>

#include <gtest/gtest.h>

#include "plait/collective/node/reducer.hpp"
#include "plait/mpi/context.hpp"

#include "mpi/collective/operands.hpp"
#include "support/allocated_bytes.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

TEST(NodeReducer, allocates_nothing_once_it_exists) {
  mpi::Context context(test_comm());
  collective::NodeReducer reducer(context);
  const mpi::SharedMemory memory = context.allocate_shared(8 * 50000);
  auto* shared = reinterpret_cast<std::uint64_t*>(memory.bytes().data());
  const Mix mix;
  const auto mixing = schedule::Combine::elementwise<std::uint64_t>(mix);
  Words words = operands(1, rank(), 50000);
  std::ranges::copy(words, shared);
  std::vector<Index> counts(static_cast<std::size_t>(ranks()), 100);

  const std::size_t before = allocated_bytes();
  for (const Index n : {10, 50000}) {
    for (std::uint64_t* data : {words.data(), shared}) {
      reducer.allreduce(data, data, n, mixing);
      reducer.reduce(data, data, n, 0, mixing);
      reducer.reduce_scatter(data, data, counts, mixing);
      reducer.reduce_scatter_block(data, data, n / ranks(), mixing);
    }
  }
  EXPECT_EQ(allocated_bytes(), before);
}

}  // namespace
}  // namespace plait::test
