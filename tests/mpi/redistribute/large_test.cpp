// More elements than a 32-bit count holds, within a bounded amount of memory.

#include <cstdint>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "plait/base/random.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/context.hpp"
#include "plait/redistribute/redistribution.hpp"

#include "support/ranks.hpp"

namespace plait::test {
namespace {

using layout::DistributedMatrix;
using layout::Layout;
using layout::Owners;
using redistribute::Op;
using redistribute::Redistribution;

// The most memory that this process has held so far, in bytes.
Index peak_resident_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmHWM:", 0) == 0) return std::stoll(line.substr(6)) * 1024;
  }
  return 0;
}

std::uint8_t byte_at(Index row, Index column) {
  return static_cast<std::uint8_t>(static_cast<std::uint64_t>(row) * 131U + static_cast<std::uint64_t>(column) * 17U +
                                   static_cast<std::uint64_t>(row >> 8) + static_cast<std::uint64_t>(column >> 8));
}

TEST(LargeRedistribution, MoreThanTwoToThe31ElementsArriveAndMemoryStaysBounded) {
  mpi::Context context(test_comm());
  const layout::Shape shape{46400, 46352};  // 2,150,732,800 elements, ragged in both directions
  ASSERT_GT(shape.rows * shape.columns, Index{1} << 31);
  const Layout from = Layout::block_cyclic(shape, 1000, 700, Owners::grid(ranks(), 1));
  const Layout to = Layout::block_cyclic({shape.columns, shape.rows}, 640, 1024, Owners::grid(1, ranks()));
  redistribute::Options options;

  DistributedMatrix<std::uint8_t> source(from, rank());
  DistributedMatrix<std::uint8_t> target(to, rank());
  source.for_each_element([](Index i, Index j, std::uint8_t& value) { value = byte_at(i, j); });
  const Index before = peak_resident_bytes();
  Redistribution(context, from, to, Op::transpose, options).execute(source, target);
  const Index after = peak_resident_bytes();

  Index wrong = 0;
  Index past = 0;  // elements of A whose place in the matrix is beyond 2^31
  target.for_each_element([&](Index i, Index j, std::uint8_t& value) {
    wrong += value == byte_at(j, i) ? 0 : 1;
    past += j * shape.columns + i >= (Index{1} << 31) ? 1 : 0;
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(mpi::all_reduce(context.comm(), past, mpi::Operation::sum()), 0);

  // Source and target are counted in full, touched or not; the rest is the budget and what 50 MB allows.
  const Index parts = from.elements_of(rank()) + to.elements_of(rank());
  const Index source_only = from.elements_of(rank());
  EXPECT_LE(after, before - source_only + parts + options.memory_budget + 50'000'000);
}

}  // namespace
}  // namespace plait::test
