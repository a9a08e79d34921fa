#include "plait/purify/elementwise.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "plait/base/contract.hpp"
#include "plait/collective/calls.hpp"
#include "plait/collective/reproducible_sum.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/purify/products.hpp"
#include "plait/redistribute/redistribution.hpp"
#include "plait/simd/exact/exact_sum.hpp"

namespace plait::purify {

namespace {

using simd::ExactSum;

/// Re(conj(a) b)
double overlap(double a, double b) { return a * b; }
template <class Real>
double overlap(const std::complex<Real>& a, const std::complex<Real>& b) {
  return overlap(a.real(), b.real()) + overlap(a.imag(), b.imag());
}
template <class T>
double square_of(const T& a) {
  return overlap(a, a);
}

/// Σ a_i b_i in eight sums, which a processor adds to at the same time.
template <class T>
T sum_of_products(const T* a, const T* b, Index length) {
  std::array<T, 8> sums{};
  constexpr auto width = static_cast<Index>(sums.size());
  Index i = 0;
  for (; i + width <= length; i += width) {
    for (Index k = 0; k < width; ++k) sums[static_cast<std::size_t>(k)] += a[i + k] * b[i + k];
  }
  for (; i < length; ++i) sums[0] += a[i] * b[i];
  return std::accumulate(sums.begin(), sums.end(), T{});
}

/// The line of a tile that lies side by side in memory.
template <class View>
auto line(const View& tile, Index number) {
  return tile.data() + number * tile.leading_dimension();
}

/// Calls f(tile number, line number, length) for each line of the tiles of a matrix that has elements.
template <class T, class F>
void for_each_line(const Matrix<T>& matrix, F&& f) {
  const auto tiles = matrix.const_tiles();
  for (std::size_t t = 0; t < tiles.size(); ++t) {
    if (tiles[t].empty()) continue;
    for (Index l = 0; l < tiles[t].major_extent(); ++l) f(t, l, tiles[t].minor_extent());
  }
}

/// Calls f(tile number, local row, local column) for every element of the diagonal that this rank holds. Takes no
/// memory.
template <class T, class F>
void for_each_diagonal(const Matrix<T>& matrix, F&& f) {
  const layout::Layout& layout = matrix.layout();
  std::size_t tile = 0;
  for (Index row = 0; row < layout.rows().parts(); ++row) {
    for (Index column = 0; column < layout.columns().parts(); ++column) {
      if (layout.owners().owner(row, column) != matrix.rank()) continue;
      layout.rows().for_each_segment(row, [&](const layout::Segment& rows) {
        layout.columns().for_each_segment(column, [&](const layout::Segment& columns) {
          const Index begin = std::max(rows.global, columns.global);
          const Index end = std::min(rows.global + rows.length, columns.global + columns.length);
          for (Index i = begin; i < end; ++i) f(tile, rows.local + i - rows.global, columns.local + i - columns.global);
        });
      });
      ++tile;
    }
  }
}

template <std::size_t Count>
std::array<double, Count> summed(mpi::Context& context, std::array<ExactSum, Count>& sums) {
  collective::merge(context, sums);
  std::array<double, Count> result{};
  std::ranges::transform(sums, result.begin(), [](const ExactSum& sum) { return sum.template rounded<double>(); });
  return result;
}

/// Σ f(element of a, element of b)
template <class T, class F>
double sum_over_pairs(mpi::Context& context, const Matrix<T>& a, const Matrix<T>& b, F f) {
  std::array<ExactSum, 1> sum;
  for_each_line(a, [&](std::size_t t, Index l, Index length) {
    const T* const x = line(a.const_tiles()[t], l);
    const T* const y = line(b.const_tiles()[t], l);
    double part = 0;
    for (Index i = 0; i < length; ++i) part += f(x[i], y[i]);
    sum[0].add(part);
  });
  return summed(context, sum)[0];
}

/// Calls f(index in the whole matrix, index in the tile) for what a part of an axis holds.
template <class F>
void for_each_index(const layout::Axis& axis, Index part, F&& f) {
  axis.for_each_segment(part, [&](const layout::Segment& segment) {
    for (Index i = 0; i < segment.length; ++i) f(segment.global + i, segment.local + i);
  });
}

template <class T>
std::span<double> numbers_of(std::span<T> vector) {
  return {reinterpret_cast<double*>(vector.data()), vector.size() * sizeof(T) / sizeof(double)};
}

}  // namespace

template <class T>
void blend(double identity, std::span<const Term<T>> terms, Matrix<T>& out) {
  for ([[maybe_unused]] const Term<T>& term : terms) {
    PLAIT_ASSERT(term.matrix->layout() == out.layout() && term.matrix->rank() == out.rank(), "one layout");
  }
  using Real = decltype(std::real(T{}));
  constexpr std::size_t most_terms = 8;
  PLAIT_ASSERT(terms.size() <= most_terms, "a few terms");
  for_each_line(out, [&](std::size_t t, Index l, Index length) {
    std::array<const T*, most_terms> from{};
    std::array<Real, most_terms> factor{};
    std::size_t count = 0;
    for (const Term<T>& term : terms) {
      if (term.factor == 0) continue;
      from[count] = line(term.matrix->const_tiles()[t], l);
      factor[count++] = static_cast<Real>(term.factor);
    }
    T* const to = line(out.tiles()[t], l);
    switch (count) {
      case 0: std::fill_n(to, length, T{}); break;
      case 1:
        for (Index i = 0; i < length; ++i) to[i] = factor[0] * from[0][i];
        break;
      case 2:
        for (Index i = 0; i < length; ++i) to[i] = factor[0] * from[0][i] + factor[1] * from[1][i];
        break;
      default:
        for (Index i = 0; i < length; ++i) {
          T sum = factor[0] * from[0][i];
          for (std::size_t k = 1; k < count; ++k) sum += factor[k] * from[k][i];
          to[i] = sum;
        }
    }
  });
  if (identity == 0) return;
  const auto tiles = out.tiles();
  for_each_diagonal(
      out, [&](std::size_t t, Index row, Index column) { tiles[t](row, column) += static_cast<Real>(identity); });
}

template <class T, class U>
void convert(const Matrix<T>& from, Matrix<U>& to) {
  for_each_line(from, [&](std::size_t t, Index l, Index length) {
    std::transform(line(from.const_tiles()[t], l), line(from.const_tiles()[t], l) + length, line(to.tiles()[t], l),
                   [](const T& element) { return static_cast<U>(element); });
  });
}

template <class T>
Measures measure(mpi::Context& context, const Matrix<T>& x, const Matrix<T>& x2, const Matrix<T>& h) {
  std::array<ExactSum, 6> sums;
  for_each_line(x, [&](std::size_t t, Index l, Index length) {
    const T* const a = line(x.const_tiles()[t], l);
    const T* const b = line(x2.const_tiles()[t], l);
    const T* const c = line(h.const_tiles()[t], l);
    double error = 0;
    double third = 0;
    double fourth = 0;
    double energy = 0;
    for (Index i = 0; i < length; ++i) {
      error += square_of(a[i] - b[i]);
      third += overlap(a[i], b[i]);
      fourth += square_of(b[i]);
      energy += overlap(a[i], c[i]);
    }
    sums[2].add(error);
    sums[3].add(third);
    sums[4].add(fourth);
    sums[5].add(energy);
  });
  for_each_diagonal(x, [&](std::size_t t, Index row, Index column) {
    const double value = std::real(x.const_tiles()[t](row, column));
    sums[0].add(value);
    sums[1].add(value - std::real(x2.const_tiles()[t](row, column)));
  });
  const auto all = summed(context, sums);
  return {all[0], all[1], std::sqrt(all[2]), all[3], all[4], all[5]};
}

template <class T>
double inner_product(mpi::Context& context, const Matrix<T>& a, const Matrix<T>& b) {
  return sum_over_pairs(context, a, b, [](const T& x, const T& y) { return overlap(x, y); });
}

template <class T>
double trace(mpi::Context& context, const Matrix<T>& a) {
  std::array<ExactSum, 1> sum;
  for_each_diagonal(
      a, [&](std::size_t t, Index row, Index column) { sum[0].add(std::real(a.const_tiles()[t](row, column))); });
  return summed(context, sum)[0];
}

template <class T>
double distance(mpi::Context& context, const Matrix<T>& a, const Matrix<T>& b) {
  return std::sqrt(sum_over_pairs(context, a, b, [](const T& x, const T& y) { return square_of(x - y); }));
}

template <class T>
void apply(mpi::Context& context, const Matrix<T>& a, std::span<const T> x, std::span<T> y) {
  std::ranges::fill(y, T{});
  const Index n = a.layout().shape().rows;
  const auto extents = mpi::agreed(context, [&] { return a.layout().tiles_of(a.rank()); });
  for (std::size_t t = 0; t < extents.size(); ++t) {
    const auto& tile = a.const_tiles()[t];
    if (tile.empty()) continue;
    const Index row = extents[t].position.row, column = extents[t].position.column;
    const bool by_columns = tile.order() == StorageOrder::column_major;
    const layout::Axis& lines = by_columns ? a.layout().columns() : a.layout().rows();
    const layout::Axis& along = by_columns ? a.layout().rows() : a.layout().columns();
    for_each_index(lines, by_columns ? column : row, [&](Index number, Index local) {
      const T* const values = line(tile, local);
      for (std::size_t first = 0; first < x.size(); first += static_cast<std::size_t>(n)) {
        T& own = y[first + static_cast<std::size_t>(number)];
        const T factor = x[first + static_cast<std::size_t>(number)];
        along.for_each_segment(by_columns ? row : column, [&](const layout::Segment& segment) {
          const T* const from = values + segment.local;
          if (by_columns) {
            T* const to = y.data() + first + segment.global;
            for (Index i = 0; i < segment.length; ++i) to[i] += from[i] * factor;
          } else {
            const T* const with = x.data() + first + segment.global;
            own += sum_of_products(from, with, segment.length);
          }
        });
      }
    });
  }
  collective::allreduce(context, numbers_of(y), simd::ReduceOperation::sum);
}

template <class T>
Interval gershgorin(mpi::Context& context, const Matrix<T>& a) {
  const auto n = static_cast<std::size_t>(a.layout().shape().rows);
  auto sums = allocate_vector<double>(context, 2 * n);  // of the radii, then the centres
  a.for_each_element([&](Index row, Index column, const T& element) {
    const auto i = static_cast<std::size_t>(row);
    if (row == column) {
      sums[n + i] = std::real(element);
    } else {
      sums[i] += std::abs(element);
    }
  });
  collective::allreduce(context, std::span<double>(sums), simd::ReduceOperation::sum);
  Interval discs{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  for (std::size_t i = 0; i < n; ++i) {
    const Interval disc{sums[n + i] - sums[i], sums[n + i] + sums[i]};
    if (!(disc.low <= disc.high)) return disc;  // NaN
    discs = {std::min(discs.low, disc.low), std::max(discs.high, disc.high)};
  }
  return discs;
}

template <class T>
void take_adjoint(mpi::Context& context, const Matrix<T>& a, Matrix<T>& adjoint) {
  redistribute::Redistribution(context, a.layout(), a.layout(), redistribute::Op::conjugate_transpose)
      .execute(a, adjoint);
}

template <class T>
void take_hermitian_part(Matrix<T>& a, const Matrix<T>& adjoint) {
  blend<T>(0, {{0.5, &a}, {0.5, &adjoint}}, a);
}

#define PLAIT_INSTANTIATE(T)                                                                      \
  template void blend(double, std::span<const Term<T>>, Matrix<T>&);                              \
  template Measures measure(mpi::Context&, const Matrix<T>&, const Matrix<T>&, const Matrix<T>&); \
  template void take_adjoint(mpi::Context&, const Matrix<T>&, Matrix<T>&);                        \
  template void take_hermitian_part(Matrix<T>&, const Matrix<T>&);
PLAIT_INSTANTIATE(float)
PLAIT_INSTANTIATE(double)
PLAIT_INSTANTIATE(std::complex<float>)
PLAIT_INSTANTIATE(std::complex<double>)
#undef PLAIT_INSTANTIATE

#define PLAIT_INSTANTIATE(T)                                                              \
  template void convert(const Matrix<T>&, Matrix<Single<T>>&);                            \
  template void convert(const Matrix<Single<T>>&, Matrix<T>&);                            \
  template double inner_product(mpi::Context&, const Matrix<T>&, const Matrix<T>&);       \
  template double trace(mpi::Context&, const Matrix<T>&);                                 \
  template double distance(mpi::Context&, const Matrix<T>&, const Matrix<T>&);            \
  template void apply(mpi::Context&, const Matrix<T>&, std::span<const T>, std::span<T>); \
  template Interval gershgorin(mpi::Context&, const Matrix<T>&);
PLAIT_INSTANTIATE(double)
PLAIT_INSTANTIATE(std::complex<double>)
#undef PLAIT_INSTANTIATE

}  // namespace plait::purify
