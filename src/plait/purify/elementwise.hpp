#pragma once

#include <complex>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/purify/occupation.hpp"
#include "plait/purify/products.hpp"

/// What is done element by element, or line by line, with matrices of one layout. T is double or std::complex<double>,
/// for `blend`, `convert`, `measure` and Hermitian parts also float or std::complex<float>.
namespace plait::purify {

/// factor·matrix, a part of a sum.
template <class T>
struct Term {
  double factor = 0;
  const Matrix<T>* matrix = nullptr;
};

/// out ← identity·I + Σ terms. `out` may be one of the terms. Local; takes no memory.
/// \pre  all matrices have the same layout
template <class T>
void blend(double identity, std::span<const Term<T>> terms, Matrix<T>& out);

template <class T>
void blend(double identity, std::initializer_list<Term<T>> terms, Matrix<T>& out) {
  blend(identity, std::span<const Term<T>>(terms.begin(), terms.size()), out);
}

/// to ← from, of the same layout. Local; takes no memory.
template <class T, class U>
void convert(const Matrix<T>& from, Matrix<U>& to);

/// What the ranks tell of an iterate x, its square and the Hamiltonian. The same bits on all ranks, and in every run on
/// the same tiles.
struct Measures {
  double trace = 0;              ///< tr x
  double missing_trace = 0;      ///< tr(x - x²)
  double idempotency_error = 0;  ///< ‖x - x²‖, Frobenius
  double third = 0;              ///< tr x³ of a Hermitian x
  double fourth = 0;             ///< tr x⁴
  double energy = 0;             ///< tr(x h)
};
/// Collective over the context.
template <class T>
[[nodiscard]] Measures measure(mpi::Context& context, const Matrix<T>& x, const Matrix<T>& x2, const Matrix<T>& h);

/// Re tr(a b) of Hermitian a and b. Collective over the context.
template <class T>
[[nodiscard]] double inner_product(mpi::Context& context, const Matrix<T>& a, const Matrix<T>& b);

/// Re tr a. Collective over the context.
template <class T>
[[nodiscard]] double trace(mpi::Context& context, const Matrix<T>& a);

/// ‖a - b‖, Frobenius. Collective over the context.
template <class T>
[[nodiscard]] double distance(mpi::Context& context, const Matrix<T>& a, const Matrix<T>& b);

/// y ← a·x of one vector, or of several, one after the other. They are whole on every rank, and so is y, with the same
/// bits. Collective over the context.
template <class T>
void apply(mpi::Context& context, const Matrix<T>& a, std::span<const T> x, std::span<T> y);

/// In which interval the eigenvalues of a Hermitian matrix lie by its elements: those of each row are within
/// Σ |a_ij|, j ≠ i, of a_ii for some i. Collective over the context.
template <class T>
[[nodiscard]] Interval gershgorin(mpi::Context& context, const Matrix<T>& a);

/// adjoint ← aᴴ, in a layout as a's. Collective over the context.
template <class T>
void take_adjoint(mpi::Context& context, const Matrix<T>& a, Matrix<T>& adjoint);

/// a ← (a + aᴴ)/2, which makes what is Hermitian to rounding so to the last bit, from what `take_adjoint` made of it.
/// Local.
template <class T>
void take_hermitian_part(Matrix<T>& a, const Matrix<T>& adjoint);

}  // namespace plait::purify
