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
#include "plait/purify/hamiltonian.hpp"
#include "plait/purify/products.hpp"
#include "plait/purify/spectrum.hpp"
#include "plait/redistribute/redistribution.hpp"

namespace plait::purify {

namespace {

constexpr Index widest_block = 64;
constexpr Index least_that_matters = 100;  // states; fewer take no time whoever finds them

template <class T>
Matrix<T> moved(mpi::Context& context, const Matrix<T>& from, const layout::Layout& to) {
  auto result = allocate<T>(context, to);
  redistribute::Redistribution(context, from.layout(), to).execute(from, result);
  return result;
}

}  // namespace

layout::Layout eigenstates_layout(Index n, const model::Placement& placement, int cores_per_node) {
  constexpr Index most_of_one_rank = 8192;
  const bool is_crowded = cores_per_node > 0 && std::min(placement.ranks, placement.ranks_per_node) > cores_per_node;
  const int ranks = is_crowded ? cores_per_node : placement.ranks;
  const bool is_one_faster = ranks < 4 || (ranks <= 8 && n >= least_that_matters);
  const Index most = is_one_faster && n <= most_of_one_rank ? 1 : std::max(n, Index{1});
  const Index rows = std::min(static_cast<Index>(std::sqrt(static_cast<double>(ranks))), most);
  const Index columns = std::min(ranks / rows, most);
  const Index block = std::clamp(n / columns, Index{1}, widest_block);
  return layout::Layout::block_cyclic({n, n}, block, block, layout::Owners::grid(rows, columns));
}

layout::Layout eigenstates_layout(Index n, const mpi::Context& context) {
  return eigenstates_layout(n, context.placement(), context.topology().cores_per_node());
}

template <class T>
void expect_countable(const layout::Layout& layout) {
  const Index n = layout.shape().rows;
  const Workspace needed = eigensolver_workspace<T>(layout, 0);  // no rank has more
  const Index most = std::max({n, needed.elements, needed.reals, needed.integers});
  if (most <= std::numeric_limits<int>::max()) return;
  throw ArgumentError(
      fmt::format("h: is {} x {} on {} ranks, so that {}'s workspace has {} elements; expected at most 2^31 - 1, "
                  "which it can count: use more ranks, with a core each",
                  n, n, layout.ranks(), layout.ranks() > 1 ? "ScaLAPACK" : "LAPACK", most));
}

template <class T>
Index eigenstates_bytes(const layout::Layout& layout, int rank, bool has_overlap) {
  const Workspace needed = eigensolver_workspace<T>(layout, rank);
  const Index matrix = layout.elements_of(rank);
  const auto bytes = Index{sizeof(T)};
  const Index solving = ((has_overlap ? 3 : 2) * matrix + needed.elements) * bytes + needed.reals * bytes / 2 +
                        needed.integers * Index{sizeof(int)};
  return std::max(solving, 3 * matrix * bytes);
}

template <class T>
Eigenstates<T>::Eigenstates(mpi::Context& context, const Matrix<T>& h, const Matrix<T>* s, int cores_of_rank)
    : context_(context),
      layout_(mpi::agreed(context,
                          [&](mpi::Alike& arguments) {
                            arguments.add_type<T>();
                            arguments.add("states", h.layout().shape().rows);
                            arguments.add("whether there is an overlap", s != nullptr);
                            auto layout = eigenstates_layout(h.layout().shape().rows, context);
                            expect_eigensolver(layout);
                            expect_countable<T>(layout);
                            return layout;
                          })),
      vectors_(allocate<T>(context, layout_)) {
  if (layout_.shape().rows == 0) return;
  const bool is_of_one = layout_.ranks() == 1;
  threads_ = is_of_one ? cores_of_rank * context.size()  // as the others sleep
                       : std::min(cores_of_rank, context.topology().share_of_cores());
  solver_ = make_eigensolver<T>(context, layout_, threads_);
  auto a = moved(context, h, layout_);
  std::optional<Matrix<T>> overlap;
  if (s != nullptr) overlap = moved(context, *s, layout_);
  auto values = allocate_vector<typename Eigensolver<T>::Real>(context, static_cast<std::size_t>(layout_.shape().rows));
  {
    const dense::BlasThreads threads(threads_);
    solver_->solve(a, overlap ? &*overlap : nullptr, vectors_, values);
  }
  mpi::broadcast(context_.comm(), std::span(values), 0);
  mpi::agreed(context, [&] { values_.assign(values.begin(), values.end()); });
  expect_squares(std::max(std::abs(values_.front()), std::abs(values_.back())));  // of which checks consist
}

template <class T>
void Eigenstates<T>::weigh(std::span<const double> weights, Matrix<T>& d) {
  using Real = typename Eigensolver<T>::Real;
  auto sum = allocate<T>(context_, layout_);
  for (const auto& tile : sum.tiles()) std::ranges::fill_n(tile.data(), tile.span(), T{});
  {
    const bool are_plain = std::ranges::all_of(weights, [](double weight) { return weight == 0 || weight == 1; });
    std::optional<Matrix<T>> scaled;
    if (!are_plain) scale_columns(weights, scaled.emplace(allocate<T>(context_, layout_)));
    const auto sign = [](double weight) { return weight > 0 ? 1 : weight < 0 ? -1 : 0; };
    // An update of one triangle for each run of states whose weights have one sign.
    const dense::BlasThreads threads(threads_);
    for (std::size_t begin = 0, end = 0; begin < weights.size(); begin = end) {
      const int of_run = sign(weights[begin]);
      while (end < weights.size() && sign(weights[end]) == of_run) ++end;
      if (of_run == 0) continue;
      solver_->add_rank_k(static_cast<Real>(of_run), scaled ? *scaled : vectors_, static_cast<Index>(begin),
                          static_cast<Index>(end - begin), sum);
    }
  }
  fill_from_triangle(context_, sum, Triangle::lower);
  redistribute::Redistribution(context_, layout_, d.layout()).execute(sum, d);
}

/// Column k of the eigenvectors times the root of the size of its weight.
template <class T>
void Eigenstates<T>::scale_columns(std::span<const double> weights, Matrix<T>& scaled) const {
  const auto tiles = mpi::agreed(context_, [&] { return layout_.tiles_of(context_.rank()); });
  for (std::size_t t = 0; t < scaled.tiles().size(); ++t) {
    const auto& from = vectors_.const_tiles()[t];
    const auto& to = scaled.tiles()[t];
    layout_.columns().for_each_segment(tiles[t].position.column, [&](const layout::Segment& segment) {
      for (Index j = 0; j < segment.length; ++j) {
        const double weight = weights[static_cast<std::size_t>(segment.global + j)];
        const auto factor = static_cast<typename Eigensolver<T>::Real>(std::sqrt(std::abs(weight)));
        for (Index i = 0; i < from.rows(); ++i) to(i, segment.local + j) = factor * from(i, segment.local + j);
      }
    });
  }
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
