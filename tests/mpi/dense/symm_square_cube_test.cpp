#include "plait/dense/symm_square_cube.hpp"

#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/base/random.hpp"

#include "support/ranks.hpp"

namespace plait::test {
namespace {

using dense::SymmAlgorithm;
using dense::SymmBackend;
using dense::SymmOptions;
using dense::SymmSquareCube;
using layout::DistributedMatrix;

/// An n × n matrix that every rank has, by rows; its products by the textbook.
template <class T>
class Whole {
 public:
  explicit Whole(Index n) : n_(n), elements_(static_cast<std::size_t>(n * n)) {}
  T& operator()(Index row, Index column) { return elements_[static_cast<std::size_t>(row * n_ + column)]; }
  const T& operator()(Index row, Index column) const { return elements_[static_cast<std::size_t>(row * n_ + column)]; }

  static Whole hermitian(Index n) {
    Whole result(n);
    for (Index row = 0; row < n; ++row) {
      for (Index column = 0; column <= row; ++column) {
        result(row, column) = element(row, column);
        result(column, row) = conjugate(result(row, column));
      }
    }
    return result;
  }
  Whole operator*(const Whole& other) const {
    Whole result(n_);
    for (Index row = 0; row < n_; ++row) {
      for (Index inner = 0; inner < n_; ++inner) {
        for (Index column = 0; column < n_; ++column) {
          result(row, column) += (*this)(row, inner) * other(inner, column);
        }
      }
    }
    return result;
  }

 private:
  static T conjugate(T value) {
    if constexpr (dense::is_complex<T>) return std::conj(value);
    return value;
  }
  // Between -1 and 1, without symmetry.
  static T element(Index row, Index column) {
    const auto part = [&](Index salt) { return static_cast<double>((row * 37 + column * 101 + salt) % 61 - 30) / 30; };
    if constexpr (dense::is_complex<T>) {
      using Part = typename T::value_type;
      return T(static_cast<Part>(part(0)), static_cast<Part>(row == column ? 0 : part(17)));
    } else {
      return static_cast<T>(part(0));
    }
  }

  Index n_;
  std::vector<T> elements_;
};

template <class T>
using PartOf = decltype(std::abs(T{}));

template <class T>
struct SquareCubes {
  SquareCubes(mpi::Context& context, Index n, const SymmOptions& options)
      : kernel(context, n, options),
        whole(Whole<T>::hermitian(n)),
        d(kernel.layout(), context.rank()),
        d2(kernel.layout(), context.rank()),
        d3(kernel.layout(), context.rank()) {
    d.for_each_element([&](Index row, Index column, T& element) { element = whole(row, column); });
    clear();
  }
  void clear() {
    d2.for_each_element([](Index, Index, T& element) { element = T{-999}; });
    d3.for_each_element([](Index, Index, T& element) { element = T{-999}; });
  }
  static Index wrong(const DistributedMatrix<T>& matrix, const Whole<T>& expected, Index n) {
    // Sums of n (n²) products of numbers up to √2.
    const auto size = static_cast<PartOf<T>>(n);
    const PartOf<T> most = 32 * std::numeric_limits<PartOf<T>>::epsilon() * size * size;
    Index count = 0;
    matrix.for_each_element([&](Index row, Index column, const T& element) {
      count += std::abs(element - expected(row, column)) <= most ? 0 : 1;  // also of what is not a number
    });
    return count;
  }

  SymmSquareCube<T> kernel;
  Whole<T> whole;
  DistributedMatrix<T> d, d2, d3;
};

template <class T>
void expect_products(mpi::Context& context, Index n, const SymmOptions& options) {
  SquareCubes<T> run(context, n, options);
  const Whole<T> square = run.whole * run.whole;
  const Whole<T> cube = square * run.whole;
  for (int round = 0; round < 2; ++round) {
    run.clear();
    run.kernel.square_cube(run.d, run.d2, run.d3);
    EXPECT_EQ(SquareCubes<T>::wrong(run.d2, square, n), 0) << "square";
    EXPECT_EQ(SquareCubes<T>::wrong(run.d3, cube, n), 0) << "cube";
  }
  EXPECT_EQ(SquareCubes<T>::wrong(run.d, run.whole, n), 0) << "the operand";
  run.clear();
  run.kernel.square(run.d, run.d2);
  EXPECT_EQ(SquareCubes<T>::wrong(run.d2, square, n), 0) << "square alone";
}

struct NamedOptions {
  const char* name;
  SymmOptions options;
};

const std::vector<NamedOptions>& ways() {
  static const std::vector<NamedOptions> all{
      {"original", {.algorithm = SymmAlgorithm::original}},
      {"baseline", {.algorithm = SymmAlgorithm::baseline}},
  };
  return all;
}

struct SymmSquareCubes : ::testing::Test {
  mpi::Context context{test_comm()};
};

TEST_F(SymmSquareCubes, are_what_the_textbook_says_whatever_the_size) {
  for (const NamedOptions& way : ways()) {
    SCOPED_TRACE(way.name);
    for (const Index n : {0, 1, 2, 3, 10, 23}) {
      SCOPED_TRACE(n);
      expect_products<double>(context, n, way.options);
    }
  }
}

TEST_F(SymmSquareCubes, are_of_all_types) {
  for (const NamedOptions& way : ways()) {
    SCOPED_TRACE(way.name);
    expect_products<float>(context, 13, way.options);
    expect_products<std::complex<float>>(context, 13, way.options);
    expect_products<std::complex<double>>(context, 13, way.options);
  }
}

}  // namespace
}  // namespace plait::test
