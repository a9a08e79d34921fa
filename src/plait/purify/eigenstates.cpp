#include "plait/purify/eigenstates.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include <fmt/format.h>

#include "plait/base/complex.hpp"
#include "plait/base/error.hpp"
#include "plait/dense/blas/blas_threads.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/purify/allocate.hpp"
#include "plait/purify/hamiltonian.hpp"
#include "plait/redistribute/redistribution.hpp"

namespace plait::purify {

namespace {

constexpr Index widest_block = 64;
constexpr int one = 1;

/// What p?syevd and p?heevd take, in elements: of T, of real numbers (the latter alone), and integers.
struct Workspace {
  Index elements = 0;
  Index reals = 0;
  Index integers = 0;
};

template <class T>
Workspace workspace(const layout::Layout& layout, int rank) {
  const Index n = layout.shape().rows;
  const Index block = layout.rows().block();
  const Index elements = layout.elements_of(rank);
  const Index rows = layout.rows().local_extent(0);  // of the first part, which has most
  const Index columns = layout.columns().local_extent(0);
  const Index integers = 7 * n + 8 * layout.owners().columns() + 2;
  // What p?syevd calls to turn eigenvectors back takes more than it asks for, and fails without a word.
  const Index turning = n + (rows + columns + 4 * block) * block;
  if constexpr (is_complex<T>) return {turning, 1 + 9 * n + 3 * elements, integers};
  return {8 * n + 1 + std::max(2 * elements, block * std::max(rows + 1, Index{3})) + turning, 0, integers};
}

template <class T>
Matrix<T> moved(mpi::Context& context, const Matrix<T>& from, const layout::Layout& to) {
  auto result = allocate<T>(context, to);
  redistribute::Redistribution(context, from.layout(), to).execute(from, result);
  return result;
}

template <class T>
int leading_dimension(const Matrix<T>& matrix) {
  return matrix.tiles().empty() ? 1 : static_cast<int>(matrix.tiles()[0].leading_dimension());
}

}  // namespace

layout::Layout eigenstates_layout(Index n, int ranks) {
  constexpr Index most_of_one_rank = 8192;
  const Index most = ranks < 4 && n <= most_of_one_rank ? 1 : std::max(n, Index{1});
  const Index rows = std::min(static_cast<Index>(std::sqrt(static_cast<double>(ranks))), most);
  const Index columns = std::min(ranks / rows, most);
  const Index block = std::clamp(n / columns, Index{1}, widest_block);
  return layout::Layout::block_cyclic({n, n}, block, block, layout::Owners::grid(rows, columns));
}

bool are_eigenstates_cheaper(Index n, int ranks) {
  constexpr Index least = 500;
  return n >= least && eigenstates_layout(n, ranks).ranks() == 1;
}

template <class T>
void expect_countable(const layout::Layout& layout) {
  const Index n = layout.shape().rows;
  const Workspace needed = workspace<T>(layout, 0);  // no rank has more
  const Index most = std::max({n, needed.elements, needed.reals, needed.integers});
  if (most <= std::numeric_limits<int>::max()) return;
  throw ArgumentError(fmt::format(
      "h: is {} x {} on {} ranks, so that ScaLAPACK's workspace has {} elements; expected at most 2^31 - 1, "
      "which it can count: use more ranks",
      n, n, layout.ranks(), most));
}

template <class T>
Index eigenstates_bytes(const layout::Layout& layout, int rank, bool has_overlap) {
  const Workspace needed = workspace<T>(layout, rank);
  const Index matrix = layout.elements_of(rank);
  const auto bytes = Index{sizeof(T)};
  const Index solving = ((has_overlap ? 3 : 2) * matrix + needed.elements) * bytes + needed.reals * bytes / 2 +
                        needed.integers * Index{sizeof(int)};
  return std::max(solving, 3 * matrix * bytes);
}

template <class T>
Eigenstates<T>::Eigenstates(mpi::Context& context, const Matrix<T>& h, const Matrix<T>* s)
    : context_(context),
      routines_(mpi::agreed(context, [] { return ScalapackRoutines<T>(); })),
      layout_(eigenstates_layout(h.layout().shape().rows, context.size())),
      vectors_(mpi::agreed(context, [&] {
        expect_countable<T>(layout_);
        return Matrix<T>(layout_, context.rank());
      })) {
  const Index size = layout_.shape().rows;
  values_.resize(static_cast<std::size_t>(size));
  if (size == 0) return;
  grid_.emplace(context, static_cast<int>(layout_.owners().rows()), static_cast<int>(layout_.owners().columns()));
  descriptor_ = grid_->descriptor(layout_.shape(), layout_.rows().block(), leading_dimension(vectors_));
  threads_ = dense::share_of_cores(context);
  if (layout_.ranks() == 1) threads_ = std::numeric_limits<int>::max();  // all that it may run on, as the others sleep
  auto a = moved(context, h, layout_);
  const dense::BlasThreads threads(threads_);
  if (s == nullptr) {
    solve(a);
    return;
  }

  // With S = LLᴴ, it is  (L⁻¹HL⁻ᴴ)(Lᴴc) = e (Lᴴc).
  auto l = moved(context, *s, layout_);
  const int n = static_cast<int>(size);
  int info = 0;
  if (grid_->has_this_rank()) {
    routines_.potrf("L", &n, l.tiles()[0].data(), &one, &one, descriptor_.data(), &info, 1);
  }
  mpi::agreed(context, [&] {
    if (info == 0) return;
    throw ArgumentError(
        fmt::format("overlap: is not positive definite, expected a matrix that is: its first {} rows "
                    "and columns have no Cholesky factor",
                    info));
  });
  const T unit{1};
  const auto divide = [&](const char* side, const char* op, Matrix<T>& by) {
    routines_.trsm(side, "L", op, "N", &n, &n, &unit, l.tiles()[0].data(), &one, &one, descriptor_.data(),
                   by.tiles()[0].data(), &one, &one, descriptor_.data());
  };
  if (grid_->has_this_rank()) {
    divide("L", "N", a);
    divide("R", "C", a);
  }
  solve(a);
  if (grid_->has_this_rank()) divide("L", "C", vectors_);
}

template <class T>
void Eigenstates<T>::solve(Matrix<T>& h) {
  using Real = typename ScalapackRoutines<T>::Real;
  const Workspace needed = workspace<T>(layout_, context_.rank());
  std::vector<Real> values;
  std::vector<T> work;
  std::vector<Real> reals;
  std::vector<int> integers;
  mpi::agreed(context_, [&] {
    values.resize(values_.size());
    if (!grid_->has_this_rank()) return;
    work.resize(static_cast<std::size_t>(needed.elements));
    reals.resize(static_cast<std::size_t>(needed.reals));
    integers.resize(static_cast<std::size_t>(needed.integers));
  });
  int info = 0;
  if (grid_->has_this_rank()) {
    const int n = static_cast<int>(values.size());
    const auto size = [](const auto& vector) { return static_cast<int>(vector.size()); };
    const int work_size = size(work);
    const int reals_size = size(reals);
    const int integers_size = size(integers);
    T* const a = h.tiles()[0].data();
    T* const z = vectors_.tiles()[0].data();
    const int* const d = descriptor_.data();
    if constexpr (is_complex<T>) {
      using Routine = void (*)(const char*, const char*, const int*, T*, const int*, const int*, const int*, Real*, T*,
                               const int*, const int*, const int*, T*, const int*, Real*, const int*, int*, const int*,
                               int*, std::size_t, std::size_t);
      reinterpret_cast<Routine>(routines_.evd)("V", "L", &n, a, &one, &one, d, values.data(), z, &one, &one, d,
                                               work.data(), &work_size, reals.data(), &reals_size, integers.data(),
                                               &integers_size, &info, 1, 1);
    } else {
      using Routine =
          void (*)(const char*, const char*, const int*, T*, const int*, const int*, const int*, Real*, T*, const int*,
                   const int*, const int*, T*, const int*, int*, const int*, int*, std::size_t, std::size_t);
      reinterpret_cast<Routine>(routines_.evd)("V", "L", &n, a, &one, &one, d, values.data(), z, &one, &one, d,
                                               work.data(), &work_size, integers.data(), &integers_size, &info, 1, 1);
    }
  }
  mpi::agreed(context_, [&] {
    if (info == 0) return;
    throw Error(ErrorKind::other, fmt::format("ScaLAPACK found no eigenstates: p?{} ended with info = {}",
                                              is_complex<T> ? "heevd" : "syevd", info));
  });
  mpi::broadcast(context_.comm(), std::span<Real>(values), 0);
  std::ranges::copy(values, values_.begin());
}

template <class T>
void Eigenstates<T>::weigh(std::span<const double> weights, Matrix<T>& d) {
  using Real = typename ScalapackRoutines<T>::Real;
  auto sum = allocate<T>(context_, layout_);
  {
    auto scaled = allocate<T>(context_, layout_);
    const auto sign = [](double weight) { return weight > 0 ? 1 : weight < 0 ? -1 : 0; };
    for (std::size_t t = 0; t < scaled.tiles().size(); ++t) {
      std::ranges::fill_n(sum.tiles()[t].data(), sum.tiles()[t].span(), T{});
      const auto& from = vectors_.const_tiles()[t];
      const auto& to = scaled.tiles()[t];
      layout_.columns().for_each_segment(
          layout_.tiles_of(context_.rank())[t].position.column, [&](const layout::Segment& segment) {
            for (Index j = 0; j < segment.length; ++j) {
              const double weight = weights[static_cast<std::size_t>(segment.global + j)];
              const auto factor = static_cast<Real>(std::sqrt(std::abs(weight)));
              for (Index i = 0; i < from.rows(); ++i) {
                to(i, segment.local + j) = factor * from(i, segment.local + j);
              }
            }
          });
    }
    // An update of one triangle for each run of states whose weights have one sign.
    const dense::BlasThreads threads(threads_);
    for (std::size_t begin = 0, end = 0; begin < weights.size(); begin = end) {
      const int of_run = sign(weights[begin]);
      while (end < weights.size() && sign(weights[end]) == of_run) ++end;
      if (of_run == 0 || !grid_->has_this_rank()) continue;
      const int n = static_cast<int>(weights.size());
      const int terms = static_cast<int>(end - begin);
      const int first = static_cast<int>(begin) + 1;
      const auto alpha = static_cast<Real>(of_run);
      const Real beta{1};
      routines_.rank_k("L", "N", &n, &terms, &alpha, scaled.tiles()[0].data(), &one, &first, descriptor_.data(), &beta,
                       sum.tiles()[0].data(), &one, &one, descriptor_.data());
    }
  }
  fill_from_triangle(context_, sum, Triangle::lower);
  redistribute::Redistribution(context_, layout_, d.layout()).execute(sum, d);
}

#define PLAIT_INSTANTIATE(T)                                             \
  template void expect_countable<T>(const layout::Layout&);              \
  template Index eigenstates_bytes<T>(const layout::Layout&, int, bool); \
  template class Eigenstates<T>;
PLAIT_INSTANTIATE(float)
PLAIT_INSTANTIATE(double)
PLAIT_INSTANTIATE(std::complex<float>)
PLAIT_INSTANTIATE(std::complex<double>)
#undef PLAIT_INSTANTIATE

}  // namespace plait::purify
