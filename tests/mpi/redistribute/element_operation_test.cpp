#include "plait/redistribute/element_operation.hpp"

#include <cstdint>
#include <cstring>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/layout/text.hpp"
#include "plait/mpi/context.hpp"
#include "plait/redistribute/batch.hpp"
#include "plait/redistribute/redistribution.hpp"

#include "support/message_of.hpp"
#include "support/ranks.hpp"
#include "tests/mpi/redistribute/random_case.hpp"

namespace plait::test {
namespace {

using layout::Layout;
using layout::Shape;
using redistribute::ElementOperation;
using redistribute::Op;
using redistribute::Redistribution;
using ::testing::HasSubstr;

// A(i, j) ← A(i, j) - 2 op(B)(i, j) + 1000 i + j: sees each operand and the place.
void with_place(matrix_view<const double> b, matrix_view<double> a, Index row, Index column) {
  for (Index i = 0; i < a.rows(); ++i) {
    for (Index j = 0; j < a.columns(); ++j) {
      a(i, j) += -2 * b(i, j) + 1000 * static_cast<double>(row + i) + static_cast<double>(column + j);
    }
  }
}

TEST(ElementOperation, IsGivenEveryElementOnceWithItsPlace) {
  mpi::Context context(test_comm());
  Random random(static_cast<std::uint64_t>(ranks()) + 3);
  for (int round = 0; round < 40; ++round) {
    const Op op = round % 2 == 0 ? Op::identity : Op::transpose;
    const Shape shape{uniform(random, 0, 60), uniform(random, 0, 60)};
    const Layout from = random_layout(random, shape, ranks());
    const Layout to = random_layout(random, apply(op, shape), ranks());
    SCOPED_TRACE(testing::Message() << "round " << round << " " << layout::describe(from) << " to "
                                    << layout::describe(to));
    GappedTiles<double> source(from, rank(), Random(5));
    GappedTiles<double> target(to, rank(), Random(6));
    source.for_each([](Index i, Index j, double& value) { value = element<double>(1, i, j); });
    target.for_each([](Index i, Index j, double& value) { value = element<double>(2, i, j); });

    Redistribution plan(context, from, to, op, {.memory_budget = 8192, .chunk_bytes = Index{64} << (round % 6)});
    plan.execute<double>(with_place, source.const_tiles(), target.tiles());

    Index wrong = 0;
    target.for_each([&](Index i, Index j, double& value) {
      const double b = op == Op::transpose ? element<double>(1, j, i) : element<double>(1, i, j);
      const double sum = element<double>(2, i, j) - 2 * b + 1000 * static_cast<double>(i) + static_cast<double>(j);
      wrong += value == sum ? 0 : 1;
    });
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(target.damaged_cells(), 0);
  }
}

TEST(ElementOperation, TakesMatricesAloneAndInABatch) {
  mpi::Context context(test_comm());
  const Layout rows = Layout::rows({30, 20}, ranks());
  const Layout columns = Layout::columns({30, 20}, ranks());
  layout::DistributedMatrix<double> b(rows, rank()), a(columns, rank());
  layout::DistributedMatrix<double> larger(Layout::columns({31, 20}, ranks()), rank());
  b.for_each_element([](Index i, Index j, double& value) { value = element<double>(1, i, j); });
  const auto wrong = [&a](int times) {
    Index count = 0;
    a.for_each_element([&](Index i, Index j, double& value) {
      const double once = -2 * element<double>(1, i, j) + 1000 * static_cast<double>(i) + static_cast<double>(j);
      count += value == times * once ? 0 : 1;
    });
    return count;
  };
  a.for_each_element([](Index, Index, double& value) { value = 0; });
  Redistribution plan(context, rows, columns);
  plan.execute<double>(with_place, b, a);
  EXPECT_EQ(wrong(1), 0);
  redistribute::Batch batch(context, {{rows, columns}});
  batch.execute({redistribute::Operands(ElementOperation<double>(with_place), b, a)});
  EXPECT_EQ(wrong(2), 0);
  EXPECT_THAT(message_of<LayoutError>([&] { plan.execute<double>(with_place, b, larger); }), HasSubstr("as planned"));
}

TEST(ElementOperation, IsGivenElementsThatAreAlignedBesideThoseOfOtherSizes) {
  mpi::Context context(test_comm());
  const Layout rows = Layout::rows({37, 29}, ranks());
  const Layout columns = Layout::columns({37, 29}, ranks());
  layout::DistributedMatrix<std::int8_t> small_b(rows, rank()), small_a(columns, rank());
  layout::DistributedMatrix<double> b(rows, rank()), a(columns, rank());
  small_b.for_each_element([](Index i, Index j, std::int8_t& value) { value = element<std::int8_t>(1, i, j); });
  b.for_each_element([](Index i, Index j, double& value) { value = element<double>(2, i, j); });
  Index not_aligned = 0;
  const ElementOperation<double> copy = [&](matrix_view<const double> from, matrix_view<double> to, Index, Index) {
    not_aligned += reinterpret_cast<std::uintptr_t>(from.data()) % alignof(double) == 0 ? 0 : 1;
    for (Index i = 0; i < to.rows(); ++i) {
      for (Index j = 0; j < to.columns(); ++j) std::memcpy(&to(i, j), &from(i, j), sizeof(double));
    }
  };
  for (const auto within_node : {redistribute::WithinNode::messages, redistribute::WithinNode::shared_memory}) {
    redistribute::Batch batch(context, {{rows, columns}, {rows, columns}},
                              {.chunk_bytes = 101, .within_node = within_node});
    batch.execute(
        {redistribute::Operands(std::int8_t{1}, small_b, std::int8_t{0}, small_a), redistribute::Operands(copy, b, a)});
  }
  EXPECT_EQ(not_aligned, 0);
}

TEST(ElementOperation, DoesNotGoWithAnOpThatConjugates) {
  mpi::Context context(test_comm());
  const Layout rows = Layout::rows({8, 6}, ranks());
  layout::DistributedMatrix<double> b(rows, rank()), a(rows, rank());
  Redistribution plan(context, rows, rows, Op::conjugate);
  EXPECT_THAT(message_of<ArgumentError>([&] { plan.execute<double>(with_place, b.const_tiles(), a.tiles()); }),
              HasSubstr("op conjugates"));
}

TEST(ElementOperation, ThatThrowsEndsTheExecutionAndNotTheJob) {
  mpi::Context context(test_comm());
  const Layout rows = Layout::rows({40, 40}, ranks());
  const Layout columns = Layout::columns({40, 40}, ranks());
  layout::DistributedMatrix<double> b(rows, rank()), a(columns, rank());
  Redistribution plan(context, rows, columns);
  const ElementOperation<double> failing = [](matrix_view<const double>, matrix_view<double>, Index, Index) {
    throw std::runtime_error("no such element");
  };
  EXPECT_THAT(message_of<Error>([&] { plan.execute<double>(failing, b.const_tiles(), a.tiles()); }),
              HasSubstr("no such element"));
  const int last = ranks() - 1;
  const ElementOperation<double> failing_on_the_last = [=](matrix_view<const double> in, matrix_view<double> out,
                                                           Index i, Index j) {
    rank() == last ? failing(in, out, i, j) : with_place(in, out, i, j);
  };
  EXPECT_THAT(message_of<Error>([&] { plan.execute<double>(failing_on_the_last, b.const_tiles(), a.tiles()); }),
              HasSubstr("no such element"));
  EXPECT_THAT(
      message_of<ArgumentError>([&] { plan.execute<double>(ElementOperation<double>(), b.const_tiles(), a.tiles()); }),
      HasSubstr("operation: is empty"));

  b.for_each_element([](Index i, Index j, double& value) { value = element<double>(1, i, j); });
  plan.execute(b, a);
  EXPECT_EQ(wrong_elements(a, 1), 0);
}

}  // namespace
}  // namespace plait::test
