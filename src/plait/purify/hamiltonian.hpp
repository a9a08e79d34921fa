#pragma once

#include <string>
#include <string_view>

#include "plait/base/error.hpp"
#include "plait/base/index.hpp"
#include "plait/purify/products.hpp"

/// Whether what was given is a problem that has a solution.
namespace plait::purify {

/// How many states are occupied by so many electrons, `per_state` (1 or 2) in each.
///
/// \throws ArgumentError  a number of electrons that is negative, more than the states hold, or odd with two in a state
[[nodiscard]] Index occupied_states(Index electrons, int per_state, Index states);
/// The same where the last state may be filled in part, so that their number may be odd, or none that is whole.
[[nodiscard]] Index partly_occupied_states(double electrons, int per_state, Index states);

/// \throws ArgumentError  on all ranks, naming the first element, by rows, that is NaN or infinite. Collective.
template <class T>
void expect_finite(mpi::Context& context, const Matrix<T>& matrix, std::string_view what);

enum class Triangle : unsigned char { lower, upper };

/// "lower", "upper".
[[nodiscard]] std::string_view name(Triangle triangle) noexcept;

/// A matrix has nothing but this triangle where a whole one or the other is expected.
class OneTriangle : public ArgumentError {
 public:
  OneTriangle(const std::string& text, Triangle triangle) : ArgumentError(text), triangle_(triangle) {}
  [[nodiscard]] Triangle triangle() const noexcept { return triangle_; }

 private:
  Triangle triangle_;
};

/// Fills the other triangle with the (conjugated) mirror image of this one, whatever is there. Takes as much memory as
/// the matrix again. Collective over the context.
template <class T>
void fill_from_triangle(mpi::Context& context, Matrix<T>& matrix, Triangle triangle);

/// \throws OneTriangle  on all ranks: all elements in the triangle are 0, but not those in the other one. Collective.
template <class T>
void expect_triangle(mpi::Context& context, const Matrix<T>& matrix, Triangle triangle, std::string_view what);

/// Makes the matrix Hermitian to the last bit, (A + Aᴴ)/2, after checking that it is to 1e-10 of its largest element.
/// Takes as much memory as the matrix again. Collective over the context.
///
/// \throws OneTriangle    on all ranks: all elements beside one triangle are 0, but not those in it
/// \throws ArgumentError  on all ranks, naming the element that differs most from its mirror image, and both values
template <class T>
void make_hermitian(mpi::Context& context, Matrix<T>& matrix, std::string_view what);

}  // namespace plait::purify
