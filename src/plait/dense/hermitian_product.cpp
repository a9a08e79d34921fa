#include "plait/dense/hermitian_product.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "plait/base/complex.hpp"
#include "plait/base/error.hpp"
#include "plait/base/rounding.hpp"
#include "plait/dense/blas/blas.hpp"
#include "plait/dense/blas/blas_threads.hpp"
#include "plait/dense/local_product.hpp"
#include "plait/layout/text.hpp"
#include "plait/mpi/agreed.hpp"

namespace plait::dense {

namespace {

using schedule::Dependencies;
using schedule::Graph;
using schedule::Run;
using schedule::SlotId;

/// This rank's columns, where they lie.
template <class T>
struct HermitianArguments {
  const T* a;
  const T* b;
  T* c;
};

/// What one rank does of a product.
template <class T>
class HermitianGraph {
 public:
  HermitianGraph(const layout::Layout& layout, int ranks, int me)
      : columns_(layout.columns()),
        n_(layout.shape().rows),
        ranks_(ranks),
        me_(me),
        graph_(3),
        a_(graph_.input(n_ * width(me) * bytes)) {}

  Graph build() && {
    const int farthest = ranks_ / 2;
    const Index widest = columns_.local_extent(0);
    const Index blocks = std::min(farthest, 2);
    if (farthest > 0 && n_ > 0) {
      factors_ = graph_.pool(n_ * widest * bytes, blocks);
      computed_ = graph_.pool(widest * widest * bytes, blocks);
      mirrored_ = graph_.pool(widest * widest * bytes, blocks);
    }
    for (int d = 0; d <= farthest; ++d) {
      if (d == 0) {
        add_triangle();
      } else {
        add_block(d);
      }
      if (d < farthest) pass_on(d + 1);
    }
    for (int d = 1; d <= farthest; ++d) add_mirrored(d);
    return std::move(graph_);
  }

 private:
  static constexpr Index bytes = sizeof(T);

  [[nodiscard]] Index width(int rank) const { return columns_.local_extent(rank); }
  [[nodiscard]] Index begin(int rank) const { return width(rank) == 0 ? 0 : columns_.global_of(rank, 0); }
  [[nodiscard]] int around(int rank, int d) const { return (rank + d + ranks_) % ranks_; }

  /// The part of block (row, column), counted in it, that the rank of the column computes.
  struct BlockPart {
    int row, column;
    Index first_row, rows, first_column, columns;
    [[nodiscard]] bool empty() const { return rows == 0 || columns == 0; }
  };
  [[nodiscard]] BlockPart piece(int column, int d) const {
    const int row = around(column, d);
    BlockPart all{row, column, 0, width(row), 0, width(column)};
    if (2 * d != ranks_) return all;
    if (column < row) {
      all.rows = (all.rows + 1) / 2;
    } else {
      all.first_column = (all.columns + 1) / 2;
      all.columns -= all.first_column;
    }
    return all;
  }

  // In strips, of which each takes some milliseconds, where messages are to go on meanwhile.
  static constexpr Index strip = 128;

  void add_triangle() {
    const Index own = width(me_);
    if (own == 0) return;
    const Index of_step = ranks_ == 1 ? own : strip;
    const auto multiply = [n = n_, own, of_step, at = begin(me_)](const Run& run, Index step) {
      const auto& given = run.arguments<HermitianArguments<T>>();
      const matrix_view<const T> a(given.a, n, own, n);
      const matrix_view<const T> b(given.b, n, own, n);
      const matrix_view<T> c = matrix_view<T>(given.c, n, own, n).part(at, 0, own, own);
      const Index first = step * of_step;
      const Index last = std::min(first + of_step, own);
      const Index some = last - first;
      const matrix_view<const T> some_b = b.part(0, first, n, some);
      gemmt(Triangle::lower, Op::conjugate_transpose, Op::identity, T{1}, a.part(0, first, n, some), some_b, T{0},
            c.part(first, first, some, some));
      gemm(Op::conjugate_transpose, Op::identity, T{1}, a.part(0, last, n, own - last), some_b, T{0},
           c.part(last, first, own - last, some));
      for (Index from = first; from < last; from += strip) {
        const Index to = std::min(from + strip, last);
        for (Index j = from; j < to; ++j) {
          if constexpr (is_complex<T>) c(j, j) = c(j, j).real();
          for (Index i = j + 1; i < to; ++i) c(j, i) = conjugated(c(i, j));
        }
        mirror<T>(c.part(to, from, own - to, to - from), c.part(from, to, to - from, own - to));
      }
    };
    graph_.compute({0, 0, 0}, quotient_up(own, of_step), multiply);
  }

  // The factor of the next block is on its way while this one is computed.
  void pass_on(int d) {
    const BlockPart mine = piece(me_, d);
    const BlockPart other = piece(around(me_, -d), d);
    const schedule::Position position{d - 1, 0, d};
    if (!other.empty()) graph_.send(position, other.column, {a_, 0, n_ * other.rows * bytes});
    if (mine.empty()) return;
    factor_ = graph_.staging(factors_);
    come_ = {graph_.receive(position, mine.row, {factor_, 0, n_ * mine.rows * bytes})};
  }

  void add_block(int d) {
    const BlockPart p = piece(me_, d);
    if (p.empty()) return;
    const SlotId block = graph_.staging(computed_);
    const auto multiply = [p, n = n_, own = width(me_), at = begin(p.row), factor = factor_, block](const Run& run,
                                                                                                    Index step) {
      const auto& given = run.arguments<HermitianArguments<T>>();
      const matrix_view<const T> a(reinterpret_cast<const T*>(run.address(factor)), n, p.rows, n);
      const matrix_view<const T> b(given.b, n, own, n);
      const matrix_view<T> to(reinterpret_cast<T*>(run.address(block)), p.rows, p.columns, p.rows);
      const Index first = step * strip;
      const Index some = std::min(strip, p.columns - first);
      const matrix_view<T> c =
          matrix_view<T>(given.c, n, own, n).part(at + p.first_row, p.first_column + first, p.rows, some);
      gemm(Op::conjugate_transpose, Op::identity, T{1}, a, b.part(0, p.first_column + first, n, some), T{0}, c);
      for (Index j = 0; j < some; ++j) std::copy_n(&c(0, j), p.rows, &to(0, first + j));
    };
    const auto done =
        graph_.compute({d, 0, d}, quotient_up(p.columns, strip), multiply, {factor_, block}, std::move(come_));
    graph_.send({d, 1, d}, p.row, {block, 0, p.rows * p.columns * bytes}, {done});
  }

  void add_mirrored(int d) {
    const BlockPart p = piece(around(me_, -d), d);
    if (p.empty()) return;
    const SlotId block = graph_.staging(mirrored_);
    const auto come = graph_.receive({d, 1, d}, p.column, {block, 0, p.rows * p.columns * bytes});
    const auto take = [p, n = n_, own = width(me_), at = begin(p.column), block](const Run& run, Index) {
      const auto& given = run.arguments<HermitianArguments<T>>();
      const matrix_view<const T> from(reinterpret_cast<const T*>(run.address(block)), p.rows, p.columns, p.rows);
      mirror<T>(from, matrix_view<T>(given.c, n, own, n).part(at + p.first_column, p.first_row, p.columns, p.rows));
    };
    graph_.compute({d, 2, d}, 1, take, {block}, {come});
  }

  const layout::Axis& columns_;
  Index n_;
  int ranks_;
  int me_;
  Graph graph_;
  SlotId a_;
  schedule::PoolId factors_{}, computed_{}, mirrored_{};
  SlotId factor_{};
  Dependencies come_;
};

}  // namespace

template <Field T>
HermitianProduct<T>::HermitianProduct(mpi::Context& context, Index n)
    : context_(context), layout_(mpi::agreed(context, [&](mpi::Alike& arguments) {
        arguments.add_type<T>();
        arguments.add("n", n);
        expect_at_least("n", n, 0);
        return layout::Layout::columns({n, n}, context.size());
      })) {
  threads_ = context.topology().share_of_cores();
  mpi::agreed(context, [&] {
    schedule_.emplace(context, HermitianGraph<T>(layout_, context.size(), context.rank()).build(), "hermitian product");
    schedule_->prepare();
  });
}

template <Field T>
void HermitianProduct<T>::execute(const Matrix& a, const Matrix& b, Matrix& c) {
  mpi::agreed(context_, [&] {
    for (const auto& [name, matrix] :
         {std::pair{"A", &a}, std::pair{"B", &b}, std::pair{"C", static_cast<const Matrix*>(&c)}}) {
      if (matrix->layout() == layout_ && matrix->rank() == context_.rank()) continue;
      throw LayoutError(fmt::format("{}: is in the layout {}, expected {}", name, layout::describe(matrix->layout()),
                                    layout::describe(layout_)));
    }
    if (&c == &a || &c == &b) throw ArgumentError("C: is one of the factors, expected another matrix");
  });
  const BlasThreads few(threads_);
  const matrix_view<const T>& own = a.const_tiles()[0];
  const HermitianArguments<T> arguments{own.data(), b.const_tiles()[0].data(), c.tiles()[0].data()};
  const std::array bindings{
      schedule::Binding::input(std::as_bytes(std::span(own.data(), static_cast<std::size_t>(own.span()))))};
  schedule_->start(bindings, &arguments);
  schedule_->wait();
}

template class HermitianProduct<float>;
template class HermitianProduct<double>;
template class HermitianProduct<std::complex<float>>;
template class HermitianProduct<std::complex<double>>;

}  // namespace plait::dense
