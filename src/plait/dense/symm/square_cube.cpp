#include "plait/dense/symm/square_cube.hpp"

#include <complex>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/base/memory.hpp"
#include "plait/dense/blas/blas_threads.hpp"
#include "plait/dense/symm/plan.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/redistribute/overlap.hpp"
#include "plait/redistribute/tile.hpp"

namespace plait::dense::symm {

namespace {

// A tile as one block without gaps, column by column: where it lies, if it lies like this; otherwise a copy.
template <class T>
class PackedTile {
 public:
  explicit PackedTile(matrix_view<T> tile) : tile_(tile) {
    const bool is_packed = tile.order() == StorageOrder::column_major && tile.leading_dimension() == tile.rows();
    if (is_packed || tile.empty()) return;
    copy_ = Array<std::remove_const_t<T>>(tile.rows() * tile.columns());
    is_copied_ = true;
  }
  [[nodiscard]] T* data() const noexcept { return is_copied_ ? copy_.data() : tile_.data(); }
  void read() const noexcept {
    if (is_copied_) for_each([&](Index i, Index row, Index column) { copy_[i] = tile_(row, column); });
  }
  void write() const noexcept {
    if (is_copied_) for_each([&](Index i, Index row, Index column) { tile_(row, column) = copy_[i]; });
  }

 private:
  template <class F>
  void for_each(F f) const {
    Index i = 0;
    for (Index column = 0; column < tile_.columns(); ++column) {
      for (Index row = 0; row < tile_.rows(); ++row) f(i++, row, column);
    }
  }

  matrix_view<T> tile_;
  Array<std::remove_const_t<T>> copy_;
  bool is_copied_ = false;
};

template <class T>
matrix_view<T> only(std::span<const matrix_view<T>> tiles) {
  return tiles.empty() ? matrix_view<T>() : tiles[0];
}

template <class T>
void expect_apart(matrix_view<const T> a, const char* name_a, matrix_view<const T> b, const char* name_b) {
  if (redistribute::have_common_memory(redistribute::memory_of(a), redistribute::memory_of(b), Index{sizeof(T)})) {
    throw ArgumentError(fmt::format("{}: has memory in common with {}, expected memory of its own", name_b, name_a));
  }
}

struct GivenLayout {
  template <class T>
  GivenLayout(const char* its_name, const layout::DistributedMatrix<T>& matrix)
      : name(its_name), layout(&matrix.layout()), rank(matrix.rank()) {}
  const char* name;
  const layout::Layout* layout;
  int rank;
};

void expect_layout(const layout::Layout& expected, int rank, std::initializer_list<GivenLayout> matrices) {
  for (const GivenLayout& given : matrices) {
    if (*given.layout != expected)
      throw LayoutError(fmt::format("{}: has another layout, expected the plan's layout()", given.name));
    if (given.rank != rank) {
      throw ArgumentError(
          fmt::format("{}: has the tiles of rank {}, expected those of rank {}", given.name, given.rank, rank));
    }
  }
}

}  // namespace

template <Field T>
SquareCube<T>::SquareCube(mpi::Context& context, Index n, const Options& options)
    : context_(&context), options_(options), mesh_(0, 1, 1), layout_(mesh_.layout()) {
  context.expect_all_ranks();
  active_ = mpi::agreed(context, [&](mpi::Alike& arguments) {
    arguments.add_type<T>();
    arguments.add("n", n);
    arguments.add("algorithm", options.algorithm ? Index{1} + static_cast<Index>(*options.algorithm) : 0);
    arguments.add("backend", options.backend);
    arguments.add("strands", options.strands.value_or(0));
    arguments.add("segment_bytes", options.segment_bytes.value_or(0));
    arguments.add("edge", options.edge.value_or(0));
    arguments.add("layers", options.layers.value_or(0));
    arguments.add("ranks_per_node", options.ranks_per_node.value_or(0));
    return options.ranks_per_node ? std::make_unique<std::optional<mpi::ActiveRanks>>() : nullptr;
  });
  if (active_) active_->emplace(context, *options.ranks_per_node);
  mpi::agreed(context, [&] {
    const int ranks = active_ ? static_cast<int>((*active_)->ranks().size()) : context.size();
    options_ = complete(ranks, n, options);
    mesh_ = grid_of(n, options_);
    layout_ = active_ ? mesh_.layout().relabeled((*active_)->ranks()) : mesh_.layout();
  });
  const auto plan = [&](mpi::Context& own) {
    plan_ = mpi::agreed(own, [&] { return make_plan(own, n, products_of<T>(), options_); });
    blas_threads_ = own.topology().share_of_cores();
  };
  active_ ? (*active_)->run(std::ref(plan)) : plan(context);
}
template <Field T>
SquareCube<T>::SquareCube(SquareCube&&) noexcept = default;
template <Field T>
SquareCube<T>& SquareCube<T>::operator=(SquareCube&&) noexcept = default;
template <Field T>
SquareCube<T>::~SquareCube() = default;

template <Field T>
Index SquareCube<T>::workspace_bytes() const noexcept {
  return plan_ ? plan_->workspace_bytes() : 0;
}

template <Field T>
void SquareCube<T>::make(Powers powers) {
  bool& is_made = is_made_[index_of(powers)];
  if (is_made) return;
  const auto made = [&](mpi::Context& own) { mpi::agreed(own, [&] { plan_->make(powers); }); };
  active_ ? (*active_)->run(std::ref(made)) : made(*context_);
  is_made = true;
}

template <Field T>
void SquareCube<T>::run(const std::function<void()>& check, ConstTiles d, Tiles d2, const Tiles* d3) {
  const Powers powers = d3 == nullptr ? Powers::square : Powers::square_and_cube;
  std::optional<PackedTile<const T>> source;
  std::optional<PackedTile<T>> square, cube;
  context_->expect_all_ranks();
  make(powers);
  mpi::agreed(*context_, [&] {
    context_->expect_usable();
    check();
    const int rank = context_->rank();
    layout::check_tiles(layout(), rank, d);
    layout::check_tiles(layout(), rank, d2);
    if (powers == Powers::square_and_cube) layout::check_tiles(layout(), rank, *d3);
    const matrix_view<const T> d_tile = only(d);
    const matrix_view<T> d2_tile = only(d2);
    const matrix_view<T> d3_tile = powers == Powers::square_and_cube ? only(*d3) : matrix_view<T>();
    expect_apart<T>(d_tile, "d", d2_tile, "d2");
    expect_apart<T>(d_tile, "d", d3_tile, "d3");
    expect_apart<T>(d2_tile, "d2", d3_tile, "d3");
    source.emplace(d_tile), square.emplace(d2_tile), cube.emplace(d3_tile);
    if (plan_) plan_->prepare(powers);
  });
  source->read();
  const auto bytes = [](auto* elements) { return reinterpret_cast<std::byte*>(elements); };
  const Operands operands{reinterpret_cast<const std::byte*>(source->data()), bytes(square->data()),
                          bytes(cube->data())};
  const auto kernel = [&](mpi::Context&) {
    const BlasThreads threads(blas_threads_);
    plan_->run(operands, powers);
  };
  active_ ? (*active_)->run(std::ref(kernel)) : kernel(*context_);
  square->write(), cube->write();
}

template <Field T>
void SquareCube<T>::square(const Matrix& d, Matrix& d2) {
  const auto check = [&] { expect_layout(layout(), context_->rank(), {{"d", d}, {"d2", d2}}); };
  run(std::cref(check), d.tiles(), d2.tiles(), nullptr);
}
template <Field T>
void SquareCube<T>::square_cube(const Matrix& d, Matrix& d2, Matrix& d3) {
  const auto check = [&] { expect_layout(layout(), context_->rank(), {{"d", d}, {"d2", d2}, {"d3", d3}}); };
  const Tiles cube = d3.tiles();
  run(std::cref(check), d.tiles(), d2.tiles(), &cube);
}

template <Field T>
void SquareCube<T>::square(ConstTiles d, Tiles d2) {
  run([] {}, d, d2, nullptr);
}
template <Field T>
void SquareCube<T>::square_cube(ConstTiles d, Tiles d2, Tiles d3) {
  run([] {}, d, d2, &d3);
}

template class SquareCube<float>;
template class SquareCube<double>;
template class SquareCube<std::complex<float>>;
template class SquareCube<std::complex<double>>;

}  // namespace plait::dense::symm
