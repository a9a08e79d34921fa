#include "support/allocation_failures.hpp"

#include <gtest/gtest.h>

#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/marginals/matrix_check.hpp"

#include "mpi/sinkhorn/problem.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

/// Where some rank has no memory, all ranks say so, and none waits for it.
class SinkhornAllocations : public ::testing::Test {
 protected:
  mpi::Context context{test_comm()};
};

WholeProblem symmetric_matrix(Index n) {
  WholeProblem whole = random_problem(n, n, 3);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < i; ++j) whole(i, j) = whole(j, i);
  }
  return whole;
}

TEST_F(SinkhornAllocations, OfComparisonsWithTheTransposeFailOnAllRanks) {
  const WholeProblem whole = symmetric_matrix(11);
  const OwnRows<double> own(whole);
  expect_one_end_on_all_ranks([&] { sinkhorn::expect_symmetric<double>(context, own.const_view()); });
  const auto sparse_rows = sparse<double>(whole);
  expect_one_end_on_all_ranks([&] { sinkhorn::expect_symmetric<double>(context, sparse_rows); });
}

}  // namespace
}  // namespace plait::test
