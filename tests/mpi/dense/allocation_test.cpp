// An execution of a product that was done before allocates nothing, where ranks have a tile each.
#include <complex>
#include <vector>

#include <gtest/gtest.h>

#include "plait/dense/multiplication.hpp"
#include "plait/layout/distributed_matrix.hpp"
#include "plait/mpi/context.hpp"

#include "support/allocated_bytes.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

using dense::Agreement;
using dense::Factors;
using dense::Method;
using dense::Multiplication;
using layout::DistributedMatrix;
using layout::Layout;
using redistribute::Op;

template <class T>
void expect_no_allocation(mpi::Context& context, const Factors& factors, const Layout& c,
                          const dense::MultiplicationOptions& options, Agreement agreement) {
  Multiplication<T> product(context, factors, c, options);
  SCOPED_TRACE(product.choice().arrangement.describe());
  DistributedMatrix<T> a(factors.a, rank()), b(factors.b, rank()), own_c(c, rank());
  for (DistributedMatrix<T>* one : {&a, &b, &own_c}) {
    one->for_each_element([](Index i, Index j, T& value) { value = T(static_cast<float>((i + 2 * j) % 5)); });
  }
  std::size_t before = 0;
  for (int execution = 0; execution < 5; ++execution) {
    if (execution == 2) before = allocated_bytes();  // the first ones take their memory
    product.execute(T{2}, a.const_tiles(), b.const_tiles(), T(static_cast<float>(execution % 2)), own_c.tiles(),
                    execution < 2 ? Agreement::needed : agreement);
  }
  EXPECT_EQ(allocated_bytes() - before, 0U);
}

/// Layouts of which none is what an algorithm wants.
void expect_no_allocation(mpi::Context& context, Method method) {
  const Layout a = Layout::rows({40, 30}, ranks());
  const Layout b = Layout::block_cyclic({50, 30}, 3, 5, layout::Owners::grid(1, ranks()));
  const Layout c = Layout::columns({40, 50}, ranks());
  for (const Agreement agreement : {Agreement::needed, Agreement::reached}) {
    expect_no_allocation<double>(context, {a, b, Op::identity, Op::transpose}, c, {.method = method}, agreement);
    expect_no_allocation<std::complex<float>>(context, {a, b, Op::conjugate, Op::conjugate_transpose}, c,
                                              {.method = method}, agreement);
  }
}

TEST(AllocationOfProducts, IsNoneOnceOneWasDone) {
  mpi::Context context(test_comm());
  for (const Method method : {Method::summa, Method::ring}) expect_no_allocation(context, method);
  if (ranks() == 4 || ranks() == 9) expect_no_allocation(context, Method::cannon);
}

TEST(AllocationOfProducts, IsNoneOverLayersAndInPlace) {
  mpi::Context context(test_comm());
  const Layout square = Layout::block_cyclic({64, 64}, 5, 5, layout::Owners::grid(1, ranks()));
  expect_no_allocation<double>(context, {square, square}, square, {.mesh = {0, 0, ranks()}}, Agreement::reached);
  expect_no_allocation<double>(context, {square, square}, square, {.method = Method::in_place}, Agreement::needed);
  expect_no_allocation<std::complex<double>>(context, {square, square, Op::conjugate_transpose, Op::identity}, square,
                                             {.method = Method::in_place}, Agreement::reached);
}

}  // namespace
}  // namespace plait::test
