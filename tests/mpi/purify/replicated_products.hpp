#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "plait/layout/layout.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/purify/products.hpp"
#include "plait/purify/purification.hpp"

#include "mpi/purify/hamiltonians.hpp"

namespace plait::test {

/// The tiles of this rank of a matrix that is whole on each.
template <class T>
purify::Matrix<T> distributed(mpi::Context& context, const layout::Layout& layout, const Whole<T>& whole) {
  purify::Matrix<T> result(layout, context.rank());
  result.for_each_element([&](Index i, Index j, T& element) { element = whole(i, j); });
  return result;
}

/// The whole of a matrix, on each rank.
template <class T>
Whole<T> gathered(mpi::Context& context, const purify::Matrix<T>& matrix) {
  Whole<T> result{matrix.layout().shape().rows};
  matrix.for_each_element([&](Index i, Index j, const T& element) { result(i, j) = element; });
  mpi::all_reduce(context.comm(),
                  std::span<double>(reinterpret_cast<double*>(result.elements.data()),
                                    result.elements.size() * sizeof(T) / sizeof(double)),
                  mpi::Operation::sum());
  return result;
}

template <class T>
double largest_difference(const Whole<T>& a, const Whole<T>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.elements.size(); ++i)
    largest = std::max(largest, std::abs(a.elements[i] - b.elements[i]));
  return largest;
}

/// Those that purify by polynomials.
inline constexpr std::array methods{purify::Method::canonical, purify::Method::mcweeny, purify::Method::tc2,
                                    purify::Method::trs4, purify::Method::hpcp};

/// Each rank multiplies whole matrices and keeps its part: a reference for the methods, whoever multiplies for them.
template <class T>
class ReplicatedProducts final : public purify::Products<T> {
 public:
  using Matrix = purify::Matrix<T>;
  ReplicatedProducts(mpi::Context& context, layout::Layout layout) : context_(context), layout_(std::move(layout)) {}

  [[nodiscard]] mpi::Context& context() const override { return context_; }
  [[nodiscard]] const layout::Layout& layout() const override { return layout_; }
  void square(const Matrix& x, Matrix& x2) override;
  void square_cube(const Matrix& x, Matrix& x2, Matrix& x3) override;
  void multiply(const Matrix& a, const Matrix& b, Matrix& c) override;

 private:
  mpi::Context& context_;
  layout::Layout layout_;
};

}  // namespace plait::test
