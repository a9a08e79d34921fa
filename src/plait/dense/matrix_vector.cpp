#include "plait/dense/matrix_vector.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/base/memory.hpp"
#include "plait/collective/algorithm/rooted.hpp"
#include "plait/collective/algorithm/to_all.hpp"
#include "plait/collective/stream.hpp"
#include "plait/dense/blas/blas.hpp"
#include "plait/dense/blas/blas_threads.hpp"
#include "plait/layout/process_grid.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/schedule/schedule.hpp"
#include "plait/simd/reduce/element_of.hpp"

namespace plait::dense {

namespace {

using collective::Blocks;
using collective::Group;
using collective::Place;
using collective::Stream;
using layout::Axis;
using layout::Layout;
using layout::Owners;
using layout::Shape;
using schedule::Graph;
using schedule::Run;

/// The part of an axis that lies in one stretch.
Span span_of(const Axis& axis, Index part) {
  Span span;
  axis.for_each_segment(
      part, [&](const layout::Segment& segment) { span = {segment.global, segment.global + segment.length}; });
  return span;
}

}  // namespace

/// Slots of the graph, in this order: x, y, a vector for what is gathered or added up.
template <Field T>
struct MatrixVector<T>::Plan {
  Plan(mpi::Context& in, Shape given, VectorMethod how, VectorOptions wish)
      : context(in),
        shape(given),
        method(how),
        options(wish),
        ranks(how == VectorMethod::mesh ? side_of(in.size()) : in.size()),
        layout(layout_of()),
        takes_part(method != VectorMethod::mesh || mesh().contains(context.rank())),
        row(method == VectorMethod::mesh ? mesh().row_of(context.rank()) : context.rank()),
        column(method == VectorMethod::mesh ? mesh().column_of(context.rank()) : context.rank()),
        columns_of_x(Axis::even(shape.columns, ranks)),
        rows_of_y(Axis::even(shape.rows, ranks)),
        scratch(scratch_elements()),
        product(context, graph(), "matrix-vector") {
    product.prepare();
  }

  static int side_of(int all) {
    int side = static_cast<int>(std::sqrt(static_cast<double>(all)));
    while (side * side > all) --side;
    while ((side + 1) * (side + 1) <= all) ++side;
    return side;
  }

  [[nodiscard]] Layout layout_of() const {
    if (method == VectorMethod::rows) return Layout::rows(shape, ranks, StorageOrder::column_major);
    if (method == VectorMethod::columns) return Layout::columns(shape, ranks);
    return Layout::blocks(shape, ranks, ranks);
  }
  [[nodiscard]] Shape tile() const {
    if (!takes_part) return {0, 0};
    return {method == VectorMethod::columns ? shape.rows : rows_of_y.local_extent(row),
            method == VectorMethod::rows ? shape.columns : columns_of_x.local_extent(column)};
  }
  [[nodiscard]] Span x_part() const { return takes_part ? span_of(columns_of_x, column) : Span{}; }
  [[nodiscard]] Span y_part() const {
    return takes_part ? span_of(rows_of_y, method == VectorMethod::mesh ? column : row) : Span{};
  }
  [[nodiscard]] Index scratch_elements() const {
    if (method == VectorMethod::rows) return shape.columns;
    if (method == VectorMethod::columns) return shape.rows;
    return takes_part ? rows_of_y.local_extent(row) : 0;
  }
  [[nodiscard]] Index segment() const {
    return options.segment > 0 ? options.segment : std::max({Index{1}, shape.rows, shape.columns});
  }
  [[nodiscard]] std::vector<Index> counts(const Axis& axis) const {
    std::vector<Index> result;
    for (Index part = 0; part < axis.parts(); ++part) result.push_back(axis.local_extent(part));
    return result;
  }
  [[nodiscard]] Blocks blocks(const Axis& axis) const {
    return Blocks::cut(counts(axis), element_bytes, options.strands, segment());
  }
  [[nodiscard]] Stream stream(Index part) const {
    return Stream::cut(rows_of_y.local_extent(part), element_bytes, options.strands, segment());
  }

  Graph graph() {
    Graph result(options.strands);
    x_slot = result.input(x_part().length() * element_bytes);
    y_slot = result.output(y_part().length() * element_bytes);
    scratch_slot = result.output(scratch_elements() * element_bytes);
    if (!takes_part) return result;
    if (method == VectorMethod::rows) add_gather(result);
    if (method == VectorMethod::columns) add_scatter(result);
    if (method == VectorMethod::mesh) add_mesh(result);
    return result;
  }

  /// What a run is told: A's tile, whose leading dimension may differ from run to run.
  struct Arguments {
    matrix_view<const T> a;
  };
  static matrix_view<const T> a_of(const Run& run) { return run.template arguments<Arguments>().a; }

  static T* elements(const Run& run, Place place, Index first) {
    return reinterpret_cast<T*>(run.address(place.slot, place.offset + first * element_bytes));
  }

  // y += A(:, part)·x(part), in the order in which the ring brings the parts.
  void add_gather(Graph& result) {
    const Group all = Group::all(context);
    const Place x{scratch_slot};
    const Place y{y_slot};
    const Blocks gathered =
        all_gather_ring(result, all, copy_own_block(result, all, blocks(columns_of_x), {x_slot}, x), x);
    schedule::Dependencies last;
    schedule::Position position;
    for (int hop = 0; hop < ranks; ++hop) {
      const int part = (context.rank() + hop) % ranks;
      const Span span = span_of(columns_of_x, part);
      schedule::Dependencies after = last;
      const Stream come = gathered.block(part);
      for (const collective::Segment& piece : come.segments()) {
        collective::append(after, piece.final);
        position = std::max(position, piece.position(1));
      }
      const auto multiply = [=, first = hop == 0](const Run& run, Index) {
        const matrix_view<const T> a = a_of(run);
        gemv<T>(Op::identity, T{1}, a.part(0, span.begin, a.rows(), span.length()), elements(run, x, span.begin),
                first ? T{0} : T{1}, elements(run, y, 0));
      };
      last = {result.compute(position, 1, multiply, {x_slot, y_slot, scratch_slot}, std::move(after))};
    }
  }

  void add_scatter(Graph& result) {
    const Group all = Group::all(context);
    const Place partial{scratch_slot};
    Blocks parts = blocks(rows_of_y);
    for (collective::Chunk& chunk : parts.chunks()) {
      for (collective::Segment& piece : chunk) piece.final = {add_rows(result, piece, partial)};
    }
    const Place y = at_beginning(all, parts, {y_slot});
    const schedule::Combine sum(simd::ReduceOperation::sum, simd::element_of<T>());
    static_cast<void>(reduce_scatter_ring(result, all, std::move(parts), {partial, y, sum}));
  }

  void add_mesh(Graph& result) {
    const Place partial{scratch_slot};
    const Place y{y_slot};
    const schedule::Combine sum(simd::ReduceOperation::sum, simd::element_of<T>());
    std::vector<collective::Segment> segments = stream(row).segments();
    for (collective::Segment& segment : segments) segment.final = {add_rows(result, segment, partial)};
    const Stream own(element_bytes, std::move(segments));
    const Stream reduced = reduce_chain(result, row_of_mesh(row), row, own, {partial, y, sum});
    // What comes down this column was reduced along another row, but for the rank on the diagonal.
    const Stream down =
        row == column ? reduced : reduce_chain(result, row_of_mesh(column), column, stream(column), {partial, y, sum});
    static_cast<void>(broadcast_chain(result, column_of_mesh(column), column, down, y));
  }

  /// partial(rows of a segment) ← A(rows, :)·x
  schedule::OperationId add_rows(Graph& result, const collective::Segment& segment, Place partial) const {
    const auto multiply = [begin = segment.begin, count = segment.elements(), partial, x = Place{x_slot}](
                              const Run& run, Index) {
      const matrix_view<const T> a = a_of(run);
      gemv<T>(Op::identity, T{1}, a.part(begin, 0, count, a.columns()), elements(run, x, 0), T{0},
              elements(run, partial, begin));
    };
    return result.compute(segment.position(), segment.elements() == 0 ? 0 : 1, multiply, {x_slot, partial.slot});
  }

  [[nodiscard]] layout::ProcessGrid mesh() const { return {ranks, ranks}; }
  [[nodiscard]] Group row_of_mesh(int which) const { return {context, mesh().ranks_of_row(which)}; }
  [[nodiscard]] Group column_of_mesh(int which) const { return {context, mesh().ranks_of_column(which)}; }

  void expect_operands(const matrix_view<const T>& a, std::span<const T> x, std::span<T> y) const {
    const Shape own = tile();
    if (a.rows() != own.rows || a.columns() != own.columns) {
      throw ShapeMismatch(
          fmt::format("a: is {} x {}, but this rank's tile is {} x {}", a.rows(), a.columns(), own.rows, own.columns));
    }
    if (!a.empty() && a.order() != StorageOrder::column_major) {
      throw ArgumentError("a: is row-major, expected a tile by columns");
    }
    const auto expect = [](const char* name, Index length, Index wanted) {
      if (length == wanted) return;
      throw ShapeMismatch(fmt::format("{}: {} elements, but this rank's part has {}", name, length, wanted));
    };
    expect("x", std::ssize(x), x_part().length());
    expect("y", std::ssize(y), y_part().length());
  }

  void execute(const matrix_view<const T>& a, std::span<const T> x, std::span<T> y) {
    mpi::agreed(context, [&] { expect_operands(a, x, y); });
    const BlasThreads few(threads);
    const std::array bindings{schedule::Binding::input(std::as_bytes(x)),
                              schedule::Binding::output(std::as_writable_bytes(y)),
                              schedule::Binding::output(std::as_writable_bytes(scratch.span()))};
    const Arguments arguments{a};
    product.start(bindings, &arguments);
    product.wait();
  }

  static constexpr Index element_bytes = Index{sizeof(T)};

  mpi::Context& context;
  Shape shape;
  VectorMethod method;
  VectorOptions options;
  int ranks;  // in one direction
  Layout layout;
  bool takes_part;
  int row, column;  // of the mesh; in one dimension, both the rank
  Axis columns_of_x, rows_of_y;
  schedule::SlotId x_slot{}, y_slot{}, scratch_slot{};
  Array<T>
      scratch;  // before the graph: of vectors that no memory holds, that has as many pieces as no memory holds either
  schedule::Schedule product;
  int threads = 1;
};

template <Field T>
MatrixVector<T>::MatrixVector(mpi::Context& context, Shape shape, VectorMethod method, VectorOptions options) {
  plan_ = mpi::agreed(context, [&](mpi::Alike& arguments) {
    arguments.add_type<T>();
    arguments.add("method", method);
    arguments.add("rows", shape.rows);
    arguments.add("columns", shape.columns);
    arguments.add("strands", options.strands);
    arguments.add("segment", options.segment);
    collective::expect_strands(options.strands);
    expect_at_least("segment", options.segment, 0);
    if (shape.rows < 0 || shape.columns < 0) {
      throw ArgumentError(fmt::format("shape: {} x {}, expected no negative extent", shape.rows, shape.columns));
    }
    constexpr Index most = std::numeric_limits<Index>::max() / Index{sizeof(T)};
    if (shape.rows > most || shape.columns > most) {
      throw ArgumentError(
          fmt::format("shape: {} x {}, expected vectors of {} elements at most", shape.rows, shape.columns, most));
    }
    return std::make_unique<Plan>(context, shape, method, options);
  });
  plan_->threads = context.topology().share_of_cores();
}

template <Field T>
MatrixVector<T>::MatrixVector(MatrixVector&&) noexcept = default;
template <Field T>
MatrixVector<T>& MatrixVector<T>::operator=(MatrixVector&&) noexcept = default;
template <Field T>
MatrixVector<T>::~MatrixVector() = default;

template <Field T>
Layout MatrixVector<T>::matrix_layout() const {
  return plan_->layout;
}
template <Field T>
Span MatrixVector<T>::x_part() const {
  return plan_->x_part();
}
template <Field T>
Span MatrixVector<T>::y_part() const {
  return plan_->y_part();
}
template <Field T>
void MatrixVector<T>::execute(matrix_view<const T> a, std::span<const T> x, std::span<T> y) {
  plan_->execute(a, x, y);
}
template <Field T>
Exchanged MatrixVector<T>::traffic() const {
  return plan_->product.traffic();
}

template class MatrixVector<float>;
template class MatrixVector<double>;
template class MatrixVector<std::complex<float>>;
template class MatrixVector<std::complex<double>>;

}  // namespace plait::dense
