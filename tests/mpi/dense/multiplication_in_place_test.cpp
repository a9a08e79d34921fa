// Matrices that lie where a product wants them are multiplied there, however they are stored.

#include <algorithm>
#include <array>
#include <complex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plait/base/random.hpp"
#include "plait/dense/arrangement/arrangement.hpp"
#include "plait/dense/multiplication.hpp"

#include "support/ranks.hpp"
#include "tests/mpi/redistribute/random_case.hpp"
#include "tests/unit/dense/naive_product.hpp"

namespace plait::test {
namespace {

using dense::Arrangement;
using dense::Factors;
using dense::Method;
using dense::Multiplication;
using layout::Layout;
using layout::ProcessGrid;
using redistribute::Op;

/// A rank's tiles with gaps between their columns (rows), which are to stay as they are.
template <class T>
class Tiles {
 public:
  Tiles(const Layout& layout, std::uint64_t seed, Index gap) : layout_(layout) {
    for (const layout::TileExtent& tile : layout.tiles_of(rank())) {
      const bool by_columns = layout.storage() == StorageOrder::column_major;
      const Index stride = std::max(Index{1}, (by_columns ? tile.rows : tile.columns) + gap);
      const Index major = by_columns ? tile.columns : tile.rows;
      auto& memory = memory_.emplace_back(static_cast<std::size_t>(stride * major), T(-99.5));
      views_.emplace_back(memory.data(), tile.rows, tile.columns, stride, layout.storage());
    }
    for_each([&](Index i, Index j, T& element) { element = small_number<T>(seed, i, j); });
  }
  template <class F>
  void for_each(F&& f) {
    std::size_t number = 0;
    for (const layout::TileExtent& tile : layout_.tiles_of(rank())) {
      const matrix_view<T>& view = views_[number++];
      for (Index j = 0; j < tile.columns; ++j) {
        for (Index i = 0; i < tile.rows; ++i) {
          f(layout_.rows().global_of(tile.position.row, i), layout_.columns().global_of(tile.position.column, j),
            view(i, j));
        }
      }
    }
  }
  [[nodiscard]] Index gaps_overwritten() const {
    Index outside = 0;
    for (std::size_t t = 0; t < views_.size(); ++t) {
      const Index kept = std::count(memory_[t].begin(), memory_[t].end(), T(-99.5));
      const Index gaps = static_cast<Index>(memory_[t].size()) - views_[t].rows() * views_[t].columns();
      outside += kept == gaps ? 0 : 1;
    }
    return outside;
  }
  [[nodiscard]] const std::vector<matrix_view<T>>& views() const { return views_; }

 private:
  Layout layout_;
  std::vector<std::vector<T>> memory_;
  std::vector<matrix_view<T>> views_;
};

Layout stored(const Layout& layout, StorageOrder order) {
  return {layout.rows(), layout.columns(), layout.owners(), order};
}

struct InPlace : ::testing::Test {
  mpi::Context context{test_comm()};
  Random random{29};

  /// Of matrices that lie as the arrangement has them, in any storage.
  template <class T>
  void check(const dense::ProductShape& shape, Method method, const ProcessGrid& mesh) {
    const Arrangement arrangement(shape, method, mesh);
    const auto coin = [&] { return uniform(random, 0, 1) == 0; };
    const auto order = [&] { return coin() ? StorageOrder::column_major : StorageOrder::row_major; };
    const auto op = [&] {
      constexpr std::array ops{Op::identity, Op::transpose, Op::conjugate, Op::conjugate_transpose};
      return ops[static_cast<std::size_t>(uniform(random, 0, 3))];
    };
    const Op op_a = op();
    const Op op_b = op();
    const auto given = [&](const Layout& own, Op of) {
      return stored(redistribute::transposes(of) ? own.transposed() : own, order());
    };
    const Layout a = given(arrangement.a_layout(), op_a);
    const Layout b = given(arrangement.b_layout(), op_b);
    const Layout c = stored(arrangement.c_layout(), order());
    const std::string what = arrangement.describe() + ", op " + to_string(op_a) + " and " + to_string(op_b);
    Multiplication<T> product(context, {a, b, op_a, op_b}, c, {.method = method, .mesh = mesh, .panel_terms = 5});
    EXPECT_EQ(product.in_place().c, mesh.layers == 1) << what;
    EXPECT_EQ(product.redistributed_bytes(), 0) << what;

    const Index gap = uniform(random, 0, 2);
    const Whole<T> whole_a(1, a.shape());
    const Whole<T> whole_b(2, b.shape());
    for (const T beta : {T{0}, T{-3}}) {
      Whole<T> expected(3, c.shape());
      naive_gemm<T>(op_a, op_b, T{2}, whole_a.view, whole_b.view, beta, expected.view);
      Tiles<T> own_a(a, 1, gap), own_b(b, 2, gap), own_c(c, 3, gap);
      context.counters().clear();
      product.execute(T{2}, own_a.views(), own_b.views(), beta, own_c.views());
      Index wrong = 0;
      own_c.for_each([&](Index i, Index j, T& element) { wrong += element != expected.view(i, j) ? 1 : 0; });
      EXPECT_EQ(wrong, 0) << what;
      EXPECT_EQ(gap == 0 ? 0 : own_c.gaps_overwritten(), 0) << what;
      const auto& in_place = product.in_place();
      EXPECT_EQ(context.counters().contains("redistribute"), !(in_place.a && in_place.b && in_place.c)) << what;
    }
  }
};

TEST_F(InPlace, ProductsAreRightOnEveryMeshAndInEveryStorage) {
  for (int rows = 1; rows <= ranks(); ++rows) {
    for (int columns = 1; columns <= ranks() / rows; ++columns) {
      for (int layers = 1; layers <= ranks() / rows / columns; ++layers) {
        if (ranks() > 4 && rows * columns * layers < ranks()) continue;
        for (const Method method : {Method::ring, Method::summa, Method::cannon}) {
          if (method == Method::ring && rows > 1 && columns > 1) continue;
          if (method == Method::cannon && rows != columns) continue;
          check<double>({19, 23, 17}, method, {rows, columns, layers});
          check<std::complex<float>>({7, 2, 30}, method, {rows, columns, layers});
        }
      }
    }
  }
}

TEST_F(InPlace, NothingMovesButWhatTheProductSends) {
  const Layout rows = Layout::rows({24, 24}, ranks());
  Multiplication<double> product(context, {rows, rows}, rows, {.method = Method::ring, .mesh = {ranks(), 1, 1}});
  EXPECT_EQ(product.in_place(), (Multiplication<double>::InPlace{true, true, true}));
  Tiles<double> a(rows, 1, 0), b(rows, 2, 0), c(rows, 3, 4);
  context.counters().clear();
  product.execute(1, a.views(), b.views(), 1, c.views());
  for (const auto& [label, counted] : context.counters()) EXPECT_EQ(label, "multiply");
  const Exchanged expected = product.product_traffic();
  EXPECT_EQ(context.counters()["multiply"].sent_to(PeerClass::node).bytes, expected.sent.bytes);
  EXPECT_EQ(context.counters()["multiply"].sent_to(PeerClass::self).bytes, 0);
}

TEST_F(InPlace, TheWayThatMovesLeastIsTakenOfThoseThatAreAsFast) {
  if (ranks() != 2) return;  // on more, ways differ in more than that
  const Layout rows = Layout::rows({240, 240}, 2);
  const Layout columns = Layout::columns({240, 240}, 2, StorageOrder::column_major);
  EXPECT_EQ(Multiplication<double>(context, {rows, rows}, rows).redistributed_bytes(), 0);
  EXPECT_EQ(Multiplication<double>(context, {columns, columns}, columns).redistributed_bytes(), 0);
}

// Parts without elements, and sizes beyond those that one call of BLAS gets.
TEST_F(InPlace, ProductsAreRightForTinyAndForLongMatrices) {
  for (const dense::ProductShape& shape :
       {dense::ProductShape{1, 1, 1}, {0, 3, 2}, {3, 2, 0}, {2200, 2, 3}, {3, 70, 600}}) {
    check<double>(shape, Method::ring, {1, ranks(), 1});
    check<double>(shape, Method::ring, {ranks(), 1, 1});
  }
}

TEST_F(InPlace, OneOfTheFactorsIsOverwritten) {
  const Layout rows = Layout::rows({12, 12}, ranks());
  Multiplication<double> product(context, {rows, rows}, rows, {.method = Method::ring, .mesh = {ranks(), 1, 1}});
  Tiles<double> a(rows, 1, 0), b(rows, 2, 0);
  const Whole<double> whole_b(2, {12, 12});
  Whole<double> whole_a(1, {12, 12}), expected(1, {12, 12});
  naive_gemm<double>(Op::identity, Op::identity, 2, whole_a.view, whole_b.view, 3, expected.view);
  product.execute(2, a.views(), b.views(), 3, a.views());
  Index wrong = 0;
  a.for_each([&](Index i, Index j, double& element) { wrong += element != expected.view(i, j) ? 1 : 0; });
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace plait::test
