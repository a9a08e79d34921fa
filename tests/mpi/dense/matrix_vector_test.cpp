#include "plait/dense/matrix_vector.hpp"

#include <complex>
#include <limits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/layout/distributed_matrix.hpp"

#include "support/message_of.hpp"
#include "support/ranks.hpp"
#include "tests/unit/dense/naive_product.hpp"

namespace plait::test {
namespace {

using dense::MatrixVector;
using dense::VectorMethod;
using dense::VectorOptions;
using layout::Shape;

constexpr std::array methods{VectorMethod::rows, VectorMethod::columns, VectorMethod::mesh};

template <class T>
void expect_product(mpi::Context& context, Shape shape, VectorMethod method, const VectorOptions& options) {
  MatrixVector<T> product(context, shape, method, options);
  layout::DistributedMatrix<T> a(product.matrix_layout(), rank());
  a.for_each_element([](Index i, Index j, T& element) { element = small_number<T>(1, i, j); });
  const matrix_view<const T> tile = a.tiles().empty() ? matrix_view<const T>() : a.const_tiles()[0];
  std::vector<T> x;
  for (Index j = product.x_part().begin; j < product.x_part().end; ++j) x.push_back(small_number<T>(2, j, 0));
  for (int run = 0; run < 2; ++run) {
    std::vector<T> y(static_cast<std::size_t>(product.y_part().length()), T{-1});
    context.counters().clear();
    product.execute(tile, x, y);
    for (Index i = product.y_part().begin; i < product.y_part().end; ++i) {
      T sum{0};
      for (Index j = 0; j < shape.columns; ++j) sum += small_number<T>(1, i, j) * small_number<T>(2, j, 0);
      ASSERT_EQ(y[static_cast<std::size_t>(i - product.y_part().begin)], sum)
          << shape.rows << " x " << shape.columns << ", method " << static_cast<int>(method);
    }
    const TrafficCounters& counted = context.counters()["matrix-vector"];
    EXPECT_EQ(counted.sent_to(PeerClass::node), product.traffic().sent);
    EXPECT_EQ(counted.received_from(PeerClass::node), product.traffic().received);
  }
}

TEST(MatrixVector, IsTheProductByRowsByColumnsAndOnAMesh) {
  mpi::Context context(test_comm());
  for (const Shape& shape : {Shape{36, 36}, {7, 5}, {1, 9}, {30, 2}, {0, 4}, {4, 0}, {23, 41}}) {
    for (const VectorMethod method : methods) {
      for (const VectorOptions& options : {VectorOptions{}, {1, 2}, {3, 0}, {2, 4}}) {
        expect_product<double>(context, shape, method, options);
      }
      expect_product<std::complex<float>>(context, shape, method, {2, 0});
    }
  }
}

TEST(MatrixVector, MovesWhatTheFormulasSay) {
  mpi::Context context(test_comm());
  const Index p = ranks();
  const Index n = 36 * p;
  for (const VectorMethod method : {VectorMethod::rows, VectorMethod::columns}) {
    const auto traffic = MatrixVector<double>(context, {n, n}, method).traffic();
    EXPECT_EQ(traffic.sent, (Traffic{p - 1, p == 1 ? 0 : (p - 1) * n / p * 8}));
    EXPECT_EQ(traffic.received, traffic.sent);
  }
  const auto mesh = MatrixVector<double>(context, {n, n}, VectorMethod::mesh).traffic();
  Index side = 1;
  while ((side + 1) * (side + 1) <= p) ++side;
  const Index bytes = n / side * 8;
  if (side == 1 || rank() >= side * side) {
    EXPECT_EQ(mesh, Exchanged{});
  } else if (rank() % (side + 1) == 0) {  // on the diagonal: the end of a reduction, the beginning of a broadcast
    EXPECT_EQ(mesh.sent, (Traffic{1, bytes}));
    EXPECT_EQ(mesh.received, (Traffic{1, bytes}));
  } else {
    EXPECT_GE(mesh.sent.bytes, bytes);
    EXPECT_LE(mesh.sent.bytes, 2 * bytes);
  }
}

TEST(MatrixVector, RefusesWhatDoesNotFit) {
  mpi::Context context(test_comm());
  EXPECT_THROW(MatrixVector<double>(context, {3, 3}, VectorMethod::rows, {0, 0}), ArgumentError);
  EXPECT_THROW(MatrixVector<double>(context, {-1, 3}, VectorMethod::rows), ArgumentError);
  EXPECT_THROW(MatrixVector<double>(context, {1, Index{1} << 60}, VectorMethod::rows), ArgumentError);
  EXPECT_THROW(MatrixVector<double>(context, {std::numeric_limits<Index>::max(), 1}, VectorMethod::mesh),
               ArgumentError);
  for (const VectorMethod method : {VectorMethod::rows, VectorMethod::columns}) {
    const Index many = Index{1} << 50;
    const layout::Shape shape = method == VectorMethod::rows ? layout::Shape{1, many} : layout::Shape{many, 1};
    EXPECT_THROW(MatrixVector<double>(context, shape, method, {1, 4096}), OutOfMemory);
  }
  MatrixVector<double> product(context, {20, 20}, VectorMethod::rows);
  std::vector<double> vector(3);
  EXPECT_THAT(message_of<ShapeMismatch>([&] { product.execute({}, vector, vector); }),
              ::testing::HasSubstr("a: is 0 x 0"));
}

}  // namespace
}  // namespace plait::test
