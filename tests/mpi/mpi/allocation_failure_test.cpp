// A rank that has no memory left, not even for a little, tells the others.
#include <new>
#include <vector>

#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/context.hpp"
#include "plait/mpi/node/shared_pool.hpp"

#include "support/allocated_bytes.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

// Each allocation that the last rank makes in f fails once: then f throws on all ranks, or does without on all.
template <class F>
void expect_one_end_on_all_ranks(const mpi::Context& context, const F& f) {
  int refused = 1;
  for (int number = 0; refused == 1; ++number) {
    SCOPED_TRACE(number);
    int failed = 0;
    if (rank() == ranks() - 1) fail_allocation_after(static_cast<std::size_t>(number));
    try {
      f();
    } catch (const OutOfMemory&) {
      failed = 1;
    } catch (const std::bad_alloc&) {
      failed = 1;
    }
    refused = mpi::all_reduce(context.comm(), has_failed_allocation() ? 1 : 0, mpi::Operation::maximum());
    ASSERT_EQ(failed, mpi::all_reduce(context.comm(), failed, mpi::Operation::maximum()));
  }
}

TEST(AllocationFailures, end_a_lease_of_shared_memory_on_all_ranks) {
  mpi::Context context(test_comm());
  mpi::SharedPool pool(context.topology().node());
  std::vector<mpi::SharedPool::Lease> leases;
  leases.reserve(100);
  for (int lease = 0; lease < 3; ++lease) {
    expect_one_end_on_all_ranks(context, [&] { leases.push_back(pool.lease(5000, 100)); });
  }
}

TEST(AllocationFailures, do_not_let_the_others_wait_for_shared_memory) {
  mpi::Context context(test_comm());
  expect_one_end_on_all_ranks(context, [&] { EXPECT_EQ(context.allocate_shared(5000).bytes().size(), 5000U); });
}

}  // namespace
}  // namespace plait::test
