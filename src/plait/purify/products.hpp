#pragma once

#include <complex>
#include <cstddef>
#include <new>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include "plait/base/complex.hpp"
#include "plait/base/error.hpp"
#include "plait/base/index.hpp"
#include "plait/layout/distributed_matrix.hpp"
#include "plait/layout/layout.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/context.hpp"

namespace plait::purify {

template <class T>
using Matrix = layout::DistributedMatrix<T>;

/// float for double, std::complex<float> for std::complex<double>.
template <class T>
using Single = std::conditional_t<is_complex<T>, std::complex<float>, float>;

/// A matrix of this layout, uninitialised. Collective over the context.
///
/// \throws OutOfMemory  on all ranks, naming the rank and the number of bytes
template <class T>
[[nodiscard]] Matrix<T> allocate(mpi::Context& context, const layout::Layout& layout) {
  return mpi::agreed(context, [&] {
    try {
      return Matrix<T>(layout, context.rank());
    } catch (const std::bad_alloc&) {
      throw OutOfMemory(fmt::format("no memory for the {} bytes that rank {} holds of one {} matrix",
                                    Matrix<T>::bytes_of(layout, context.rank()), context.rank(),
                                    layout::to_string(layout.shape())));
    }
  });
}

/// A vector that is whole on every rank. Collective over the context.
///
/// \throws OutOfMemory  on all ranks
template <class T>
[[nodiscard]] std::vector<T> allocate_vector(mpi::Context& context, std::size_t n) {
  return mpi::agreed(context, [&] { return std::vector<T>(n); });
}

/// Products of n × n matrices that all lie in one layout, planned once: what a purification needs of multiplication.
/// The members that take matrices are collective over the context; operands and results are different matrices.
template <class T>
class Products {
 public:
  virtual ~Products() = default;

  [[nodiscard]] virtual mpi::Context& context() const = 0;
  /// Where the matrices lie.
  [[nodiscard]] virtual const layout::Layout& layout() const = 0;

  /// x2 ← x·x of a Hermitian x.
  virtual void square(const Matrix<T>& x, Matrix<T>& x2) = 0;
  /// x2 ← x·x and x3 ← x·x·x of a Hermitian x.
  virtual void square_cube(const Matrix<T>& x, Matrix<T>& x2, Matrix<T>& x3) = 0;
  /// c ← a·b of any matrices.
  virtual void multiply(const Matrix<T>& a, const Matrix<T>& b, Matrix<T>& c) = 0;
};

}  // namespace plait::purify
