#include "plait/dense/multiplication.hpp"

#include <algorithm>
#include <complex>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plait/base/random.hpp"
#include "plait/dense/arrangement/moves.hpp"
#include "plait/layout/distributed_matrix.hpp"
#include "plait/mpi/collectives.hpp"

#include "support/product_traffic.hpp"
#include "support/ranks.hpp"
#include "tests/mpi/redistribute/random_case.hpp"
#include "tests/unit/dense/naive_product.hpp"

namespace plait::test {
namespace {

using dense::Agreement;
using dense::Factors;
using dense::Method;
using dense::Multiplication;
using dense::MultiplicationOptions;
using layout::DistributedMatrix;
using layout::Layout;
using layout::Shape;
using redistribute::Op;

template <class T>
DistributedMatrix<T> distributed(const Layout& layout, std::uint64_t seed) {
  DistributedMatrix<T> matrix(layout, rank());
  matrix.for_each_element([&](Index i, Index j, T& element) { element = small_number<T>(seed, i, j); });
  return matrix;
}

template <class T>
Index differences(const DistributedMatrix<T>& matrix, const matrix_view<T>& expected) {
  Index wrong = 0;
  matrix.for_each_element([&](Index i, Index j, const T& element) { wrong += element != expected(i, j) ? 1 : 0; });
  return wrong;
}

struct Case {
  Factors factors;
  Layout c;
  MultiplicationOptions options;
};

/// By the formulas.
template <class T>
Exchanged traffic_of_my_role(const Case& one, const dense::Choice& choice) {
  const std::vector<int> of_roles = ranks_of_roles(one.factors, one.c, choice.arrangement, Index{sizeof(T)}, ranks());
  const auto role = std::ranges::find(of_roles, rank()) - of_roles.begin();
  return product_traffic(choice.arrangement, choice.cut, Index{sizeof(T)}, static_cast<int>(role));
}

/// Multiplies twice, and compares with the product as it is written down.
template <class T>
void expect_product(mpi::Context& context, const Case& one, T alpha, T beta, const std::string& what) {
  const Whole<T> a(1, one.factors.a.shape());
  const Whole<T> b(2, one.factors.b.shape());
  Whole<T> c(3, one.c.shape());
  naive_gemm<T>(one.factors.op_a, one.factors.op_b, alpha, a.view, b.view, beta, c.view);

  const auto own_a = distributed<T>(one.factors.a, 1);
  const auto own_b = distributed<T>(one.factors.b, 2);
  Multiplication<T> product(context, one.factors, one.c, one.options);
  for (int run = 0; run < 2; ++run) {
    auto own_c = distributed<T>(one.c, 3);
    context.counters().clear();
    if (run == 0) {
      product.execute(alpha, own_a, own_b, beta, own_c);
      product.release_memory();
    } else {
      product.execute(alpha, own_a.const_tiles(), own_b.const_tiles(), beta, own_c.tiles(), Agreement::reached);
    }
    EXPECT_EQ(differences(own_c, c.view), 0) << what << ": " << product.choice().arrangement.describe();

    const TrafficCounters& counted = context.counters()["multiply"];
    const Exchanged expected = traffic_of_my_role<T>(one, product.choice());
    EXPECT_EQ(product.product_traffic(), expected) << what;
    EXPECT_EQ(counted.sent_to(PeerClass::node).messages, expected.sent.messages) << what;
    EXPECT_EQ(counted.sent_to(PeerClass::node).bytes, expected.sent.bytes) << what;
    EXPECT_EQ(counted.received_from(PeerClass::node).messages, expected.received.messages) << what;
    EXPECT_EQ(counted.received_from(PeerClass::node).bytes, expected.received.bytes) << what;
  }
}

constexpr std::array<Op, 4> ops{Op::identity, Op::transpose, Op::conjugate, Op::conjugate_transpose};

template <class T>
void expect_random_products(std::uint64_t seed, int cases) {
  mpi::Context context(test_comm());
  Random random(seed);
  for (int i = 0; i < cases; ++i) {
    const auto extent = [&] { return uniform(random, 0, 9) == 0 ? uniform(random, 0, 2) : uniform(random, 1, 40); };
    const Index rows = extent();
    const Index columns = extent();
    const Index terms = extent();
    const auto some_op = [&] { return ops[static_cast<std::size_t>(uniform(random, 0, 3))]; };
    const Op op_a = some_op();
    const Op op_b = some_op();
    const auto some_layout = [&](Op op, Shape shape) {
      return random_layout(random, redistribute::apply(op, shape), ranks());
    };
    const Layout a = some_layout(op_a, {rows, terms});
    const Layout b = some_layout(op_b, {terms, columns});
    const Layout c = some_layout(Op::identity, {rows, columns});
    MultiplicationOptions options{.panel_terms = uniform(random, 0, 7)};
    if (i % 2 == 1) options.mesh.order = layout::GridOrder::column;
    switch (uniform(random, 0, 4)) {
      case 0: options.method = Method::ring; break;
      case 1: options.method = Method::cannon; break;
      case 2: options.method = Method::summa; break;
      case 3: options.mesh.layers = static_cast<int>(uniform(random, 1, ranks())); break;
      default: break;
    }
    expect_product<T>(context, {{a, b, op_a, op_b}, c, options}, T{2}, i % 3 == 0 ? T{0} : T{-3},
                      "case " + std::to_string(i) + " of seed " + std::to_string(seed));
  }
}

TEST(Multiplication, IsTheProductForRandomShapesLayoutsOpsAndMethods) {
  expect_random_products<double>(11, ranks() > 4 ? 12 : 40);
  expect_random_products<std::complex<float>>(12, 8);
  expect_random_products<float>(13, 4);
  expect_random_products<std::complex<double>>(14, 4);
}

TEST(Multiplication, TakesPanelsThatAreLongerThanThereAreTerms) {
  mpi::Context context(test_comm());
  const Layout a = Layout::rows({12, 9}, ranks());
  const Layout b = Layout::rows({9, 7}, ranks());
  const Layout c = Layout::columns({12, 7}, ranks());
  for (const Index panel_terms : {Index{1000}, Index{1} << 40, std::numeric_limits<Index>::max()}) {
    const MultiplicationOptions options{.method = Method::summa, .panel_terms = panel_terms};
    expect_product<double>(context, {{a, b}, c, options}, 1, 0, "panels of " + std::to_string(panel_terms));
  }
}

TEST(Multiplication, IsTheProductOnEveryMesh) {
  mpi::Context context(test_comm());
  const Layout a = Layout::rows({23, 31}, ranks());
  const Layout b = Layout::columns({31, 17}, ranks());
  const Layout c = Layout::block_cyclic({23, 17}, 3, 2, layout::Owners::grid(1, ranks()));
  for (int rows = 1; rows <= ranks(); ++rows) {
    for (int columns = 1; columns <= ranks() / rows; ++columns) {
      for (int layers = 1; layers <= ranks() / rows / columns; ++layers) {
        if (ranks() > 4 && rows * columns * layers < ranks() - 1) continue;  // as on fewer ranks
        for (const Method method : {Method::ring, Method::summa, Method::cannon}) {
          if (method == Method::ring && rows > 1 && columns > 1) continue;
          if (method == Method::cannon && rows != columns) continue;
          const MultiplicationOptions options{.method = method, .mesh = {rows, columns, layers}, .panel_terms = 4};
          expect_product<double>(context, {{a, b}, c, options}, 1, 1, "mesh");
        }
      }
    }
  }
}

/// Block-cyclic matrices on one grid of all ranks, parts of larger ones, whose blocks need not begin with them.
class OnOneGrid {
 public:
  OnOneGrid(Random& random, Index rows, Index columns)
      : random_(random),
        owners_(layout::Owners::grid(
            rows, columns, uniform(random, 0, 1) == 0 ? layout::GridOrder::row : layout::GridOrder::column)) {}

  /// Where m × n elements lie, and what their terms and those of others are dealt by.
  [[nodiscard]] layout::Axis axis(Index extent, Index parts, Index block) {
    const Index before = uniform(random_, 0, 9);
    const layout::Axis all =
        layout::Axis::cyclic(before + extent + uniform(random_, 0, 3), block, parts, uniform(random_, 0, parts - 1));
    return all.sub(before, before + extent);
  }
  [[nodiscard]] layout::Axis row_axis(Index extent) { return axis(extent, owners_.rows(), uniform(random_, 1, 9)); }
  [[nodiscard]] layout::Axis column_axis(Index extent) {
    return axis(extent, owners_.columns(), uniform(random_, 1, 9));
  }
  [[nodiscard]] Layout layout(const layout::Axis& rows, const layout::Axis& columns) {
    return {rows, columns, owners_, uniform(random_, 0, 2) > 0 ? StorageOrder::column_major : StorageOrder::row_major};
  }

 private:
  Random& random_;
  layout::Owners owners_;
};

/// Of terms that are dealt alike for both factors, or as it comes.
template <class T>
void expect_products_on_one_grid(std::uint64_t seed, int cases) {
  mpi::Context context(test_comm());
  Random random(seed);
  for (int i = 0; i < cases; ++i) {
    Index grid_rows = uniform(random, 1, ranks());
    while (ranks() % grid_rows != 0) --grid_rows;
    OnOneGrid grid(random, grid_rows, ranks() / grid_rows);
    const auto extent = [&] { return uniform(random, 0, 9) == 0 ? uniform(random, 0, 2) : uniform(random, 1, 60); };
    const Index terms = extent();
    const layout::Axis rows = grid.row_axis(extent());
    const layout::Axis columns = grid.column_axis(extent());
    const Index block = uniform(random, 1, 9);
    const bool alike = uniform(random, 0, 1) == 0;
    const layout::Axis a_terms =
        alike ? layout::Axis::cyclic(terms, block, ranks() / grid_rows) : grid.column_axis(terms);
    const layout::Axis b_terms = alike ? layout::Axis::cyclic(terms, block, grid_rows) : grid.row_axis(terms);
    const auto some_op = [&] { return uniform(random, 0, 3) == 0 ? Op::conjugate : Op::identity; };
    const Factors factors{grid.layout(rows, a_terms), grid.layout(b_terms, columns), some_op(), some_op()};
    const Layout c = grid.layout(rows, columns);
    const MultiplicationOptions options{.method = Method::in_place, .panel_terms = uniform(random, 0, 7)};
    const std::string what = "case " + std::to_string(i) + " of seed " + std::to_string(seed) + " in place";
    expect_product<T>(context, {factors, c, options}, T{2}, i % 3 == 0 ? T{0} : T{-3}, what);
    const Multiplication<T> product(context, factors, c, options);
    EXPECT_TRUE((product.in_place() == typename Multiplication<T>::InPlace{true, true, true})) << what;
    EXPECT_EQ(product.redistributed_bytes(), 0) << what;
  }
}

TEST(Multiplication, TakesBlockCyclicMatricesOfOneGridWhereTheyLie) {
  expect_products_on_one_grid<double>(21, ranks() > 4 ? 8 : 16);
  expect_products_on_one_grid<std::complex<float>>(22, 5);
}

TEST(Multiplication, BringsToCWhatDoesNotLieWithIt) {
  mpi::Context context(test_comm());
  Random random(23);
  Index grid_rows = 1;
  while (grid_rows * grid_rows < ranks()) ++grid_rows;
  const bool is_square = grid_rows * grid_rows == ranks();
  if (!is_square) grid_rows = 1;
  OnOneGrid grid(random, grid_rows, ranks() / grid_rows);
  const layout::Axis rows = grid.row_axis(31);
  const layout::Axis columns = grid.column_axis(23);
  const Layout a = grid.layout(rows, layout::Axis::cyclic(29, 4, ranks() / grid_rows));
  const Layout b_transposed = grid.layout(grid.row_axis(23), grid.column_axis(29));
  const Layout elsewhere = Layout::rows({29, 23}, ranks());
  const Layout c = grid.layout(rows, columns);
  const MultiplicationOptions options{.method = Method::in_place, .panel_terms = 5};
  if (is_square) {  // else B would have to be put in A's order
    expect_product<double>(context, {{a, b_transposed, Op::identity, Op::transpose}, c, options}, 1, 1, "transposed B");
    expect_product<double>(context, {{a, elsewhere}, c, options}, 1, 1, "B by rows");
  }
  const Layout all_a = Layout::columns({31, 29}, ranks());
  expect_product<double>(context, {{all_a, elsewhere}, c, options}, -1, 0, "C alone stays");
}

TEST(Multiplication, ReadsNoOperandWhoseScalarIsZero) {
  mpi::Context context(test_comm());
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Layout layout = Layout::rows({12, 12}, ranks());
  const auto filled = [&](double value) {
    DistributedMatrix<double> matrix(layout, rank());
    matrix.for_each_element([&](Index, Index, double& element) { element = value; });
    return matrix;
  };
  Multiplication<double> product(context, {layout, layout}, layout);
  const auto ones = filled(1);
  auto c = filled(nan);
  product.execute(1, ones, ones, 0, c);
  c.for_each_element([](Index, Index, double& element) { EXPECT_EQ(element, 12); });
  product.execute(0, filled(nan), filled(nan), 2, c);
  c.for_each_element([](Index, Index, double& element) { EXPECT_EQ(element, 24); });
}

TEST(Multiplication, OverwritesOneOfItsFactors) {
  mpi::Context context(test_comm());
  const Layout layout = Layout::rows({10, 10}, ranks());
  Whole<double> a(1, {10, 10});
  Whole<double> expected(1, {10, 10});
  naive_gemm<double>(Op::identity, Op::identity, 1, a.view, a.view, 2, expected.view);
  auto own = distributed<double>(layout, 1);
  Multiplication<double> product(context, {layout, layout}, layout);
  product.execute(1, own, own, 2, own);
  EXPECT_EQ(differences(own, expected.view), 0);
}

TEST(Multiplication, BringsTheSameBitsInEveryRun) {
  mpi::Context context(test_comm());
  const Layout layout = Layout::blocks({70, 70}, 1, ranks());
  DistributedMatrix<double> a(layout, rank());
  a.for_each_element(
      [](Index i, Index j, double& element) { element = random_uniform(5, static_cast<std::uint64_t>(i * 70 + j)); });
  DistributedMatrix<double> first(layout, rank());
  DistributedMatrix<double> again(layout, rank());
  Multiplication<double> product(context, {layout, layout}, layout, {.panel_terms = 8});
  product.execute(1, a, a, 0, first);
  product.execute(1, a, a, 0, again);
  for (std::size_t i = 0; i < first.tiles().size(); ++i) {
    const auto& one = first.tiles()[i];
    for (Index k = 0; k < one.span(); ++k) EXPECT_EQ(one.data()[k], again.tiles()[i].data()[k]);
  }
}

}  // namespace
}  // namespace plait::test
