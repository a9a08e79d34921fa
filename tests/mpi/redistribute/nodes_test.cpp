// Plans of ranks on several nodes: messages go between them, and what stays in a node goes through memory.
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "plait/layout/distributed_matrix.hpp"
#include "plait/mpi/context.hpp"
#include "plait/redistribute/redistribution.hpp"

#include "mpi/mpi/pretended_nodes.hpp"
#include "support/ranks.hpp"
#include "tests/mpi/redistribute/random_case.hpp"

namespace plait::test {
namespace {

using layout::DistributedMatrix;
using layout::Layout;
using redistribute::Options;
using redistribute::Redistribution;

TEST(PlansOfSeveralNodes, StayWithinTheirBudgetWhetherOrNotTilesAreShared) {
  const PretendedNodes pretended({2, ranks()});
  mpi::Context context(test_comm());
  const Layout from = Layout::rows({512, 300}, ranks());
  const Layout to = Layout::columns({512, 300}, ranks());
  const mpi::SharedMemory memory = context.allocate_shared(DistributedMatrix<double>::bytes_of(from, rank()));
  DistributedMatrix<double> shared(from, rank(), memory.bytes());
  DistributedMatrix<double> own(from, rank());
  DistributedMatrix<double> target(to, rank());
  const Options options{.memory_budget = Index{64} << 10};
  {
    Redistribution plan(context, from, to, redistribute::Op::identity, options);
    for (std::uint64_t round = 0; round < 6; ++round) {
      DistributedMatrix<double>& source = round / 2 == 1 ? shared : own;
      source.for_each_element([&](Index i, Index j, double& value) { value = element<double>(round, i, j); });
      plan.execute(source, target);
      EXPECT_EQ(wrong_elements(target, round), 0) << "round " << round;
    }
  }
  EXPECT_LE(context.staging().held_bytes(), options.memory_budget);
}

}  // namespace
}  // namespace plait::test
