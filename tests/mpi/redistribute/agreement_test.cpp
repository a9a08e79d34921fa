#include <vector>

#include <gtest/gtest.h>

#include "plait/layout/distributed_matrix.hpp"
#include "plait/mpi/context.hpp"
#include "plait/redistribute/plan.hpp"

#include "support/ranks.hpp"

namespace plait::test {
namespace {

using layout::DistributedMatrix;
using layout::Layout;
using redistribute::Agreement;
using redistribute::MatrixPair;
using redistribute::Op;
using redistribute::Operands;
using redistribute::Plan;

double number_at(Index i, Index j) { return 100 * static_cast<double>(i) + static_cast<double>(j); }

TEST(Agreement, IsNotNeededAgainAfterAnExecution) {
  mpi::Context context(test_comm());
  const auto from = Layout::rows({37, 23}, ranks());
  const auto to = Layout::block_cyclic({23, 37}, 3, 5, layout::Owners::grid(1, ranks()));
  Plan plan(context, std::vector<MatrixPair>{{from, to, Op::transpose}}, {});
  DistributedMatrix<double> b(from, rank());
  DistributedMatrix<double> a(to, rank());
  b.for_each_element([](Index i, Index j, double& value) { value = number_at(i, j); });
  a.for_each_element([](Index, Index, double& value) { value = 0; });

  const Operands sum(1.0, b, 1.0, a);
  const Operands difference(
      [](matrix_view<const double> b_part, matrix_view<double> into, Index, Index) {
        for (Index i = 0; i < into.rows(); ++i) {
          for (Index j = 0; j < into.columns(); ++j) into(i, j) -= b_part(i, j) / 2;
        }
      },
      b.const_tiles(), a.tiles());
  plan.start({&sum, 1}, nullptr, Agreement::needed);
  plan.wait();
  for (const Operands* next : {&sum, &difference, &sum}) {
    plan.start({next, 1}, nullptr, Agreement::reached);
    plan.wait();
  }

  Index wrong = 0;
  a.for_each_element([&](Index i, Index j, double& value) { wrong += value == 2.5 * number_at(j, i) ? 0 : 1; });
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace plait::test
