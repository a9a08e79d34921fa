#include "plait/dense/hermitian_product.hpp"

#include <complex>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/complex.hpp"
#include "plait/base/error.hpp"
#include "plait/base/random.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/context.hpp"

#include "support/ranks.hpp"

namespace plait::dense {
namespace {

using layout::DistributedMatrix;

template <class T>
class HermitianProductTest : public testing::Test {};
using Types = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(HermitianProductTest, Types);

template <class T>
T conjugate(const T& value) {
  if constexpr (is_complex<T>) return std::conj(value);
  return value;
}

/// Element (i, j) of a Hermitian matrix of random whole numbers, whose products have no rounding errors.
template <class T>
T element(Index n, Index i, Index j) {
  if (i < j) return conjugate(element<T>(n, j, i));
  const auto number = [&](std::uint64_t seed) {
    return static_cast<double>(random_bits(seed, static_cast<std::uint64_t>(i * n + j)) % 7) - 3;
  };
  if constexpr (is_complex<T>) {
    using Real = typename T::value_type;
    return {static_cast<Real>(number(1)), i == j ? Real{0} : static_cast<Real>(number(2))};
  } else {
    return static_cast<T>(number(1));
  }
}

template <class T>
std::vector<T> naive(Index n, const std::vector<T>& a, const std::vector<T>& b) {
  std::vector<T> c(a.size());
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      for (Index k = 0; k < n; ++k) {
        c[static_cast<std::size_t>(i + j * n)] +=
            a[static_cast<std::size_t>(i + k * n)] * b[static_cast<std::size_t>(k + j * n)];
      }
    }
  }
  return c;
}

TYPED_TEST(HermitianProductTest, IsTheSquareAndTheCubeForAnySizeAndNumberOfRanks) {
  using T = TypeParam;
  mpi::Context context(test::test_comm());
  for (const Index n : {0, 1, 2, 3, 7, 16, 61}) {
    std::vector<T> x;
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < n; ++i) x.push_back(element<T>(n, i, j));
    }
    const auto x2 = naive(n, x, x);
    const auto x3 = naive(n, x, x2);
    HermitianProduct<T> product(context, n);
    DistributedMatrix<T> own(product.layout(), context.rank());
    DistributedMatrix<T> square(product.layout(), context.rank());
    DistributedMatrix<T> cube(product.layout(), context.rank());
    own.for_each_element([&](Index i, Index j, T& value) { value = x[static_cast<std::size_t>(i + j * n)]; });
    for (int run = 0; run < 2; ++run) {
      product.execute(own, own, square);
      product.execute(own, square, cube);
      square.for_each_element(
          [&](Index i, Index j, const T& value) { EXPECT_EQ(value, x2[static_cast<std::size_t>(i + j * n)]) << n; });
      cube.for_each_element(
          [&](Index i, Index j, const T& value) { EXPECT_EQ(value, x3[static_cast<std::size_t>(i + j * n)]) << n; });
    }
  }
}

TEST(HermitianProduct, IsExactlyHermitianWhateverRoundingDoes) {
  using T = std::complex<double>;
  mpi::Context context(test::test_comm());
  const Index n = 300;
  HermitianProduct<T> product(context, n);
  DistributedMatrix<T> x(product.layout(), context.rank());
  DistributedMatrix<T> square(product.layout(), context.rank());
  x.for_each_element([&](Index i, Index j, T& value) { value = element<T>(n, i, j) / 7.0; });
  product.execute(x, x, square);
  const auto at = [&](Index i, Index j) { return static_cast<std::size_t>(i + j * n); };
  std::vector<T> whole(static_cast<std::size_t>(n * n));
  square.for_each_element([&](Index i, Index j, const T& value) { whole[at(i, j)] = value; });
  mpi::all_reduce(context.comm(), std::span<double>(reinterpret_cast<double*>(whole.data()), 2 * whole.size()),
                  mpi::Operation::sum());
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i <= j; ++i) EXPECT_EQ(whole[at(i, j)], std::conj(whole[at(j, i)]));
  }
}

TEST(HermitianProduct, ReceivesHalfOfWhatAGeneralProductDoes) {
  mpi::Context context(test::test_comm());
  const Index n = 240;
  HermitianProduct<double> product(context, n);
  DistributedMatrix<double> x(product.layout(), context.rank());
  DistributedMatrix<double> square(product.layout(), context.rank());
  x.for_each_element([&](Index i, Index j, double& value) { value = element<double>(n, i, j); });
  product.execute(x, x, square);
  Index bytes = 0;
  for (const auto& [label, traffic] : context.counters()) {
    if (label == "hermitian product") {
      bytes += traffic.received_from(PeerClass::node).bytes + traffic.received_from(PeerClass::network).bytes;
    }
  }
  const double most = 8.0 * n * n * (0.5 + 0.5 / context.size());
  if (context.size() == 1) {
    EXPECT_EQ(bytes, 0);
  } else {
    EXPECT_GT(bytes, 0);
    EXPECT_LE(static_cast<double>(bytes), most);
  }
}

TEST(HermitianProduct, RefusesOtherLayoutsAndAResultThatIsAFactor) {
  mpi::Context context(test::test_comm());
  EXPECT_THROW(HermitianProduct<double>(context, -1), ArgumentError);
  HermitianProduct<double> product(context, 12);
  DistributedMatrix<double> x(product.layout(), context.rank());
  DistributedMatrix<double> y(layout::Layout::rows({12, 12}, context.size()), context.rank());
  x.for_each_element([](Index, Index, double& value) { value = 1; });
  EXPECT_THROW(product.execute(x, x, x), ArgumentError);
  EXPECT_THROW(product.execute(x, x, y), LayoutError);
}

}  // namespace
}  // namespace plait::dense
