// A rank that has no memory left for what a product needs tells the others.
#include "support/allocation_failures.hpp"

#include <complex>
#include <vector>

#include <gtest/gtest.h>

#include "plait/dense/matrix_vector.hpp"
#include "plait/dense/multiplication.hpp"
#include "plait/dense/symm/square_cube.hpp"
#include "plait/layout/distributed_matrix.hpp"
#include "plait/mpi/context.hpp"

#include "support/ranks.hpp"

namespace plait::test {
namespace {

using layout::DistributedMatrix;
using layout::Layout;

TEST(ProductAllocationFailures, end_planning_and_executing_a_product_on_all_ranks) {
  mpi::Context context(test_comm());
  const Layout a_layout = Layout::rows({20, 15}, ranks());
  const Layout b_layout = Layout::block_cyclic({15, 25}, 3, 5, layout::Owners::grid(1, ranks()));
  const Layout c_layout = Layout::columns({20, 25}, ranks());
  DistributedMatrix<double> a(a_layout, rank()), b(b_layout, rank()), c(c_layout, rank());
  a.for_each_element([](Index, Index, double& value) { value = 1; });
  b.for_each_element([](Index, Index j, double& value) { value = static_cast<double>(j); });
  expect_one_end_on_all_ranks([&] {
    dense::Multiplication<double> product(context, {a_layout, b_layout}, c_layout);
    product.execute(1.0, a.const_tiles(), b.const_tiles(), 0.0, c.tiles());
  });
  c.for_each_element([](Index, Index j, double& value) { EXPECT_EQ(value, 15 * static_cast<double>(j)); });
}

TEST(ProductAllocationFailures, end_planning_and_executing_a_product_with_vectors_on_all_ranks) {
  mpi::Context context(test_comm());
  for (const auto method : {dense::VectorMethod::rows, dense::VectorMethod::columns, dense::VectorMethod::mesh}) {
    expect_one_end_on_all_ranks([&] {
      const dense::MatrixVector<double> product(context, {12, 10}, method);
      EXPECT_LE(product.x_part().length(), 10);
    });
  }
}

TEST(ProductAllocationFailures, end_the_planning_of_squares_and_cubes_on_all_ranks) {
  mpi::Context context(test_comm());
  std::vector<dense::symm::Options> ways(3);
  ways[1].ranks_per_node = 1;
  ways[2].algorithm = dense::symm::Algorithm::overlapped;
  for (const dense::symm::Options& options : ways) {
    expect_one_end_on_all_ranks([&] { static_cast<void>(dense::symm::SquareCube<double>(context, 12, options)); });
    dense::symm::SquareCube<double> plan(context, 12, options);
    DistributedMatrix<double> d(plan.layout(), rank()), d2(plan.layout(), rank());
    d.for_each_element([](Index i, Index j, double& value) { value = i == j ? 2 : 0; });
    expect_one_end_on_all_ranks([&] { plan.square(d, d2); });
    d2.for_each_element([](Index i, Index j, double& value) { EXPECT_EQ(value, i == j ? 4 : 0); });
  }
}

}  // namespace
}  // namespace plait::test
