#include "plait/purify/hamiltonian.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/dense/local_product.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/purify/elementwise.hpp"
#include "plait/purify/products.hpp"

namespace plait::purify {

namespace {

constexpr double most_asymmetry = 1e-10;  // of the largest element: what printed matrices lose

std::string text(double value) { return fmt::format("{}", value); }
std::string text(const std::complex<double>& value) { return fmt::format("{}{:+}i", value.real(), value.imag()); }
bool is_finite(double value) { return std::isfinite(value); }
bool is_finite(const std::complex<double>& value) { return is_finite(value.real()) && is_finite(value.imag()); }

constexpr Index nowhere = std::numeric_limits<Index>::max();  // else an element is called row · columns + column

/// Calls f(row, column, element, element of the mirror image) for all that this rank holds. Collective.
template <class T, class F>
void for_each_with_image(mpi::Context& context, Matrix<T>& matrix, const Matrix<T>& mirrored, F&& f) {
  const auto extents = mpi::agreed(context, [&] { return matrix.layout().tiles_of(matrix.rank()); });
  for (std::size_t t = 0; t < extents.size(); ++t) {
    const auto& tile = matrix.tiles()[t];
    const auto& image = mirrored.const_tiles()[t];
    layout::for_each_index(matrix.layout(), extents[t].position, tile.order(),
                           [&](Index row, Index column, Index local_row, Index local_column) {
                             f(row, column, tile(local_row, local_column), image(local_row, local_column));
                           });
  }
}

}  // namespace

Index partly_occupied_states(double electrons, int per_state, Index states) {
  const double occupied = std::ceil(electrons / per_state);
  if (!(electrons >= 0 && occupied <= static_cast<double>(states))) {
    throw ArgumentError(fmt::format("electrons: is {}, expected 0 to {}: {} in each of {} states", electrons,
                                    per_state * states, per_state, states));
  }
  return static_cast<Index>(occupied);
}

Index occupied_states(Index electrons, int per_state, Index states) {
  const Index occupied = partly_occupied_states(static_cast<double>(electrons), per_state, states);
  if (electrons % per_state != 0) {
    throw ArgumentError(
        fmt::format("electrons: is {}, expected an even number, as a closed shell has two in each state", electrons));
  }
  return occupied;
}

template <class T>
void expect_finite(mpi::Context& context, const Matrix<T>& matrix, std::string_view what) {
  const Index columns = matrix.layout().shape().columns;
  Index own = nowhere;
  matrix.for_each_element([&](Index row, Index column, const T& element) {
    if (!is_finite(element)) own = std::min(own, row * columns + column);
  });
  const Index first = mpi::all_reduce(context.comm(), own, mpi::Operation::minimum());
  if (first == nowhere) return;
  mpi::agreed(context, [&] {
    if (own != first) return;
    matrix.for_each_element([&](Index row, Index column, const T& element) {
      if (row * columns + column != first) return;
      throw ArgumentError(fmt::format("{}: element ({}, {}), counted from 0, is {}, expected a finite number", what,
                                      row, column, text(element)));
    });
  });
}

std::string_view name(Triangle triangle) noexcept { return triangle == Triangle::lower ? "lower" : "upper"; }

template <class T>
void fill_from_triangle(mpi::Context& context, Matrix<T>& matrix, Triangle triangle) {
  mpi::agreed(context, [&](mpi::Alike& arguments) { arguments.add("triangle", name(triangle)); });
  auto mirrored = allocate<T>(context, matrix.layout());
  take_adjoint(context, matrix, mirrored);
  for_each_with_image(context, matrix, mirrored, [&](Index row, Index column, T& element, const T& image) {
    if (triangle == Triangle::lower ? row < column : row > column) element = image;
  });
}

template <class T>
void expect_triangle(mpi::Context& context, const Matrix<T>& matrix, Triangle triangle, std::string_view what) {
  mpi::agreed(context, [&](mpi::Alike& arguments) { arguments.add("triangle", name(triangle)); });
  std::array<Index, 2> filled{};  // whether there is anything below and above the diagonal
  matrix.for_each_element([&](Index row, Index column, const T& element) {
    if (row != column && element != T{0}) filled[row > column ? 0 : 1] = 1;
  });
  mpi::all_reduce(context.comm(), filled, mpi::Operation::maximum());
  if (filled[0] == filled[1] || (filled[0] == 1) == (triangle == Triangle::lower)) return;
  const Triangle other = triangle == Triangle::lower ? Triangle::upper : Triangle::lower;
  throw OneTriangle(fmt::format("{}: all elements of the {} triangle are 0, but not those of the {} one", what,
                                name(triangle), name(other)),
                    other);
}

template <class T>
void make_hermitian(mpi::Context& context, Matrix<T>& matrix, std::string_view what) {
  auto mirrored = allocate<T>(context, matrix.layout());
  take_adjoint(context, matrix, mirrored);
  std::array<double, 4> worst{};  // difference, element; elements below and above the diagonal
  Index own = nowhere;
  T found{};
  T other{};
  const Index columns = matrix.layout().shape().columns;
  for_each_with_image(context, matrix, mirrored, [&](Index row, Index column, const T& element, const T& image) {
    const double difference = std::abs(element - image);
    const double size = std::abs(element);
    worst[1] = std::max(worst[1], size);
    if (row > column) worst[2] = std::max(worst[2], size);
    if (row < column) worst[3] = std::max(worst[3], size);
    const Index number = row * columns + column;
    if (difference < worst[0] || (difference == worst[0] && number > own)) return;
    worst[0] = difference;
    own = number;
    found = element;
    other = image;
  });
  const double own_worst = worst[0];
  mpi::all_reduce(context.comm(), worst, mpi::Operation::maximum());
  if (worst[0] > most_asymmetry * worst[1]) {
    const char* const kind = std::is_same_v<T, double> ? "symmetric" : "Hermitian";
    if ((worst[2] == 0) != (worst[3] == 0)) {
      const Triangle triangle = worst[3] == 0 ? Triangle::lower : Triangle::upper;
      throw OneTriangle(
          fmt::format("{}: is not {}: all elements {} the diagonal are 0, but not those {} it", what, kind,
                      triangle == Triangle::lower ? "above" : "below", triangle == Triangle::lower ? "below" : "above"),
          triangle);
    }
    if (own_worst != worst[0]) own = nowhere;
    const Index first = mpi::all_reduce(context.comm(), own, mpi::Operation::minimum());
    mpi::agreed(context, [&] {
      if (own != first) return;
      const Index row = first / columns;
      const Index column = first % columns;
      if (row == column) {
        throw ArgumentError(
            fmt::format("{}: is not Hermitian: element ({}, {}), counted from 0, is {}, expected a "
                        "real number on the diagonal",
                        what, row, column, text(found)));
      }
      throw ArgumentError(fmt::format("{}: is not {}: element ({}, {}), counted from 0, is {}, but ({}, {}) is {}",
                                      what, kind, row, column, text(found), column, row,
                                      text(dense::conjugated(other))));
    });
  }
  take_hermitian_part(matrix, mirrored);
}

template void fill_from_triangle(mpi::Context&, Matrix<float>&, Triangle);
template void fill_from_triangle(mpi::Context&, Matrix<std::complex<float>>&, Triangle);
#define PLAIT_INSTANTIATE(T)                                                                  \
  template void expect_triangle(mpi::Context&, const Matrix<T>&, Triangle, std::string_view); \
  template void fill_from_triangle(mpi::Context&, Matrix<T>&, Triangle);                      \
  template void expect_finite(mpi::Context&, const Matrix<T>&, std::string_view);             \
  template void make_hermitian(mpi::Context&, Matrix<T>&, std::string_view);
PLAIT_INSTANTIATE(double)
PLAIT_INSTANTIATE(std::complex<double>)
#undef PLAIT_INSTANTIATE

}  // namespace plait::purify
