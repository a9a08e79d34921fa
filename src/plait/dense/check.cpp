#include "plait/dense/check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "plait/base/random.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::dense {

namespace {

constexpr double standard_deviations = 16;
constexpr std::uint64_t seed = 0x706c616974;

/// Sums of squares, which would be 0 or infinite as doubles where energies, say, come in other units.
using Squares = long double;

Squares square_of(double value) { return Squares{value} * value; }
Squares square_of(const std::complex<double>& value) { return square_of(value.real()) + square_of(value.imag()); }

template <class Wide>
void add_over_ranks(const mpi::Context& context, std::vector<Wide>& vector) {
  const std::span parts(reinterpret_cast<double*>(vector.data()), vector.size() * sizeof(Wide) / sizeof(double));
  mpi::all_reduce(context.comm(), parts, mpi::Operation::sum());
}

/// The Euclidean norm of what all ranks have, each of which gives the sum of its squares.
double norm_over_ranks(const mpi::Context& context, Squares squares) {
  const auto own = static_cast<double>(std::sqrt(squares));
  const double infinity = std::numeric_limits<double>::infinity();
  const double largest =
      mpi::all_reduce(context.comm(), std::isfinite(own) ? own : infinity, mpi::Operation::maximum());
  if (largest == 0 || largest == infinity) return largest;
  const double part = own / largest;
  return largest * std::sqrt(mpi::all_reduce(context.comm(), part * part, mpi::Operation::sum()));
}

}  // namespace

template <Field T>
Index ProductCheck<T>::memory_bytes(const ProductShape& shape) {
  constexpr Index countable = Index{1} << 50;  // far more than any memory, and little enough to be added up
  const Index rows = std::min(shape.rows, countable);
  const Index others = std::min(shape.columns, countable) + std::min(shape.terms, countable);
  return (3 * rows + others) * Index{sizeof(Wide)};  // C x as it is, was and is expected to be; x; op(B) x
}

template <Field T>
auto ProductCheck<T>::vector(Index count) const -> Vector {
  return mpi::agreed(context_, [count] { return Vector(static_cast<std::size_t>(count)); });
}

template <Field T>
auto ProductCheck<T>::signs(Index count) const -> Vector {
  Vector x = vector(count);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = random_bits(seed, i) % 2 == 0 ? 1.0 : -1.0;
  return x;
}

template <Field T>
auto ProductCheck<T>::applied(Op op, const layout::DistributedMatrix<T>& matrix, const Vector& x) const -> Applied {
  const layout::Shape shape = redistribute::apply(op, matrix.layout().shape());
  Applied result{vector(shape.rows), 0};
  const bool swaps = redistribute::transposes(op);
  const bool conjugated = redistribute::conjugates(op);
  Squares squares = 0;
  matrix.for_each_element([&](Index i, Index j, const T& element) {
    Wide value(element);
    if constexpr (is_complex<T>) value = conjugated ? std::conj(value) : value;
    const auto row = static_cast<std::size_t>(swaps ? j : i);
    const auto column = static_cast<std::size_t>(swaps ? i : j);
    result.product[row] += value * x[column];
    squares += square_of(value);
  });
  static_cast<void>(conjugated);
  add_over_ranks(context_, result.product);
  result.norm = norm_over_ranks(context_, squares);
  return result;
}

template <Field T>
void ProductCheck<T>::read_factors(const layout::DistributedMatrix<T>& a, const layout::DistributedMatrix<T>& b) {
  if (alpha_ == T{0}) return;
  const layout::Shape shape = redistribute::apply(op_b_, b.layout().shape());
  terms_ = shape.rows;
  const Applied right = applied(op_b_, b, signs(shape.columns));
  Applied both = applied(op_a_, a, right.product);
  for (Wide& value : both.product) value *= Wide(alpha_);
  expected_ = std::move(both.product);
  size_ += static_cast<double>(Squares{std::abs(Wide(alpha_))} * both.norm * right.norm);
}

template <Field T>
void ProductCheck<T>::read_before(const layout::DistributedMatrix<T>& c) {
  if (beta_ == T{0}) return;
  Applied old = applied(Op::identity, c, signs(c.layout().shape().columns));
  for (Wide& value : old.product) value *= Wide(beta_);
  before_ = std::move(old.product);
  size_ += std::abs(Wide(beta_)) * old.norm;
}

template <Field T>
Residual ProductCheck<T>::residual(const layout::DistributedMatrix<T>& c) {
  const Applied now = applied(Op::identity, c, signs(c.layout().shape().columns));
  Squares squares = 0;
  for (std::size_t i = 0; i < now.product.size(); ++i) {
    Wide difference = now.product[i];
    if (!expected_.empty()) difference -= expected_[i];
    if (!before_.empty()) difference -= before_[i];
    squares += square_of(difference);
  }
  const auto distance = static_cast<double>(std::sqrt(squares));
  using Real = decltype(std::abs(T{}));
  // The rounding errors of a sum add up as a random walk of its partial sums; those of the check itself likewise.
  const auto steps = static_cast<double>(terms_ + c.layout().shape().columns + 1);
  Residual residual;
  residual.tolerance = standard_deviations * double{std::numeric_limits<Real>::epsilon()} * std::sqrt(steps);
  residual.relative = size_ > 0 ? distance / size_ : distance;
  if (!std::isfinite(distance) || !std::isfinite(size_)) return residual;
  const double smallest = double{std::numeric_limits<Real>::min()};
  residual.verdict =
      distance <= residual.tolerance * size_ + steps * smallest ? Residual::Verdict::passed : Residual::Verdict::failed;
  return residual;
}

template class ProductCheck<float>;
template class ProductCheck<double>;
template class ProductCheck<std::complex<float>>;
template class ProductCheck<std::complex<double>>;

}  // namespace plait::dense
