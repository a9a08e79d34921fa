#pragma once

#include <complex>
#include <optional>
#include <type_traits>

#include "plait/base/complex.hpp"
#include "plait/redistribute/op.hpp"
#include "plait/redistribute/trapezoid.hpp"

#include "shim/scalapack/blacs.hpp"
#include "shim/scalapack/matrix.hpp"

/// What PBLAS's routines have in common: their matrices are all on one grid, whose processes know all arguments.
namespace plait::shim::scalapack {

/// op as PBLAS's TRANS names it: 'N', 'T' or 'C'.
/// \throws PassOn  for another letter
[[nodiscard]] redistribute::Op op_of(char trans);

/// The same on elements of type T: of real numbers, C is T, so that one plan does for both.
template <class T>
[[nodiscard]] constexpr redistribute::Op op_on(redistribute::Op op) noexcept {
  return is_complex<T> || op != redistribute::Op::conjugate_transpose ? op : redistribute::Op::transpose;
}

/// \throws PassOn  for a matrix that can't be served; on one process only where its leading dimension is too small: the
///                 real routine ends the program then
void expect_servable(const Descriptor& d, const Submatrix& part, int rows, int columns, const GridInfo& grid);

/// C(ic:, jc:) ← beta·C(ic:, jc:), a part of rows x columns elements, or a trapezoid of it; without reading it if beta
/// is 0. Local.
/// \param array  this process's, of the whole matrix
template <class T>
void scale(std::type_identity_t<T> beta, const Submatrix& c, int rows, int columns, const GridInfo& grid, T* array,
           int leading_dimension, const std::optional<redistribute::Trapezoid>& part = {});

extern template void scale<float>(float, const Submatrix&, int, int, const GridInfo&, float*, int,
                                  const std::optional<redistribute::Trapezoid>&);
extern template void scale<double>(double, const Submatrix&, int, int, const GridInfo&, double*, int,
                                   const std::optional<redistribute::Trapezoid>&);
extern template void scale<std::complex<float>>(std::complex<float>, const Submatrix&, int, int, const GridInfo&,
                                                std::complex<float>*, int,
                                                const std::optional<redistribute::Trapezoid>&);
extern template void scale<std::complex<double>>(std::complex<double>, const Submatrix&, int, int, const GridInfo&,
                                                 std::complex<double>*, int,
                                                 const std::optional<redistribute::Trapezoid>&);

}  // namespace plait::shim::scalapack
