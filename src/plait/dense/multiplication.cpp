#include "plait/dense/multiplication.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "plait/base/contract.hpp"
#include "plait/base/error.hpp"
#include "plait/base/memory.hpp"
#include "plait/dense/arrangement_traffic.hpp"
#include "plait/dense/blas_threads.hpp"
#include "plait/dense/local_product.hpp"
#include "plait/dense/product_graph.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/redistribute/batch.hpp"
#include "plait/redistribute/redistribution.hpp"
#include "plait/redistribute/relabel.hpp"
#include "plait/schedule/schedule.hpp"

namespace plait::dense {

namespace {

using layout::Layout;
using redistribute::MatrixPair;

void expect_shape_of_c(const ProductShape& product, const Layout& c) {
  const layout::Shape shape = c.shape();
  if (shape == layout::Shape{product.rows, product.columns}) return;
  throw ShapeMismatch(fmt::format("op(A) op(B) is {} x {}, but C is {} x {}", product.rows, product.columns, shape.rows,
                                  shape.columns));
}

void expect_ranks(const char* name, const Layout& layout, int ranks) {
  if (layout.ranks() <= ranks) return;
  throw LayoutError(fmt::format("{}: needs {} ranks, but there are {}", name, layout.ranks(), ranks));
}

/// Which rank plays which role of an arrangement, so that least is moved, and which role that is for this one.
struct Roles {
  std::vector<int> rank_of;
  int mine = 0;

  Roles(const Factors& factors, const Layout& c, const Arrangement& arrangement, Index element_bytes, int ranks,
        int rank) {
    const std::array<redistribute::SizedPair, 3> pairs{
        redistribute::SizedPair{{factors.a, arrangement.a_layout(), factors.op_a}, element_bytes},
        redistribute::SizedPair{{factors.b, arrangement.b_layout(), factors.op_b}, element_bytes},
        redistribute::SizedPair{{c, arrangement.c_layout()}, element_bytes}};  // as much is moved either way
    rank_of = redistribute::relabel(pairs, ranks).rank_of;
    mine = static_cast<int>(std::ranges::find(rank_of, rank) - rank_of.begin());
  }
};

/// The tile of a layout in which each role has one; no elements for ranks that have none.
template <class T>
std::vector<matrix_view<T>> tiles_in(const Layout& layout, int rank, T* memory) {
  std::vector<matrix_view<T>> views;
  for (const layout::TileExtent& tile : layout.tiles_of(rank)) {
    const Index minor = layout.storage() == StorageOrder::column_major ? tile.rows : tile.columns;
    views.emplace_back(memory, tile.rows, tile.columns, std::max(Index{1}, minor), layout.storage());
  }
  return views;
}

template <class T>
void expect_tiles(const Layout& layout, int rank, std::span<const matrix_view<T>> tiles) {
  const std::vector<layout::TileExtent> expected = layout.tiles_of(rank);
  if (tiles.size() != expected.size()) {
    throw ShapeMismatch(fmt::format("C: {} tiles, but the layout gives this rank {}", tiles.size(), expected.size()));
  }
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    if (tiles[i].rows() != expected[i].rows || tiles[i].columns() != expected[i].columns) {
      throw ShapeMismatch(fmt::format("C: tile {} is {} x {}, but the layout says {} x {}", i, tiles[i].rows(),
                                      tiles[i].columns(), expected[i].rows, expected[i].columns));
    }
  }
}

}  // namespace

ProductShape Factors::product_shape() const {
  const layout::Shape left = redistribute::apply(op_a, a.shape());
  const layout::Shape right = redistribute::apply(op_b, b.shape());
  if (left.columns != right.rows) {
    throw ShapeMismatch(fmt::format("op(A) is {} x {}, op(B) is {} x {}: there have to be as many columns as rows",
                                    left.rows, left.columns, right.rows, right.columns));
  }
  return {left.rows, right.columns, left.columns};
}

template <Element T>
struct Multiplication<T>::Plan {
  Plan(mpi::Context& in, const Factors& given, Layout given_c, const MultiplicationOptions& options)
      : context(in),
        factors(given),
        c(std::move(given_c)),
        choice(mpi::agreed(context, [&] { return chosen(options); })),
        roles(factors, c, choice.arrangement, Index{sizeof(T)}, context.size(), context.rank()),
        own_a(choice.arrangement.a_layout().relabeled(roles.rank_of)),
        own_b(choice.arrangement.b_layout().relabeled(roles.rank_of)),
        own_c(choice.arrangement.c_layout().relabeled(roles.rank_of)),
        there(context, {{factors.a, own_a, factors.op_a}, {factors.b, own_b, factors.op_b}}, exchange_options()),
        back(context, own_c, c, Op::identity, exchange_options()),
        product(context,
                product_graph(context, choice.arrangement, choice.cut, element_kind<T>(), roles.mine, roles.rank_of),
                "multiply"),
        threads(share_of_cores(context)) {
    PLAIT_ASSERT(product.staging_bytes() <= workspace_bytes(choice.arrangement, choice.cut, Index{sizeof(T)}),
                 "what travels is counted in the workspace");
    mpi::agreed(context, [&] {
      const TileElements elements = tile_elements(choice.arrangement, roles.mine);
      a_memory = Array<T>(elements.a);
      b_memory = Array<T>(elements.b);
      c_memory = Array<T>(elements.c);
      product.prepare();
    });
    context.note_choice(fmt::format("product of {} x {} and {} x {}: {}, {} bytes of workspace", shape().rows,
                                    shape().terms, shape().terms, shape().columns, choice.arrangement.describe(),
                                    choice.workspace_bytes));
  }

  [[nodiscard]] Choice chosen(const MultiplicationOptions& options) const {
    const ProductShape wanted = factors.product_shape();
    expect_shape_of_c(wanted, c);
    expect_ranks("A", factors.a, context.size());
    expect_ranks("B", factors.b, context.size());
    expect_ranks("C", c, context.size());
    return choose(wanted, context.machine(), context.placement(), Index{sizeof(T)}, options);
  }
  [[nodiscard]] const ProductShape& shape() const { return choice.arrangement.shape(); }
  [[nodiscard]] redistribute::Options exchange_options() const {
    return {.memory_budget = choice.redistribution_bytes};
  }

  /// What is final of the C that this rank computed, which layers have added up: some of its columns.
  [[nodiscard]] T* final_c() const {
    if (roles.mine >= choice.arrangement.mesh().ranks()) return c_memory.data();
    const MeshPlace me = choice.arrangement.place(roles.mine);
    const Index skipped =
        choice.arrangement.final_columns(me.column, me.layer).begin - choice.arrangement.columns(me.column).begin;
    return c_memory.data() + skipped * choice.arrangement.rows(me.row).length();
  }

  void multiply() {
    const BlasThreads few(threads);
    const std::array bindings{schedule::Binding::input(std::as_bytes(a_memory.span())),
                              schedule::Binding::input(std::as_bytes(b_memory.span())),
                              schedule::Binding::output(std::as_writable_bytes(c_memory.span()))};
    product.start(bindings);
    product.wait();
  }

  void bring_back(T alpha, T beta, std::span<const matrix_view<T>> target) {
    const std::vector<matrix_view<T>> computed = tiles_in(own_c, context.rank(), final_c());
    back.template execute<T>(alpha, computed, beta, target);
  }

  mpi::Context& context;
  Factors factors;
  Layout c;
  Choice choice;
  Roles roles;
  Layout own_a, own_b, own_c;
  redistribute::Batch there;
  redistribute::Redistribution back;
  schedule::Schedule product;
  int threads;
  Array<T> a_memory, b_memory, c_memory;
};

template <Element T>
Multiplication<T>::Multiplication(mpi::Context& context, const Factors& factors, Layout c,
                                  const MultiplicationOptions& options)
    : plan_(std::make_unique<Plan>(context, factors, std::move(c), options)) {}

template <Element T>
Multiplication<T>::Multiplication(Multiplication&&) noexcept = default;
template <Element T>
Multiplication<T>& Multiplication<T>::operator=(Multiplication&&) noexcept = default;
template <Element T>
Multiplication<T>::~Multiplication() = default;

template <Element T>
void Multiplication<T>::execute(T alpha, redistribute::SourceTiles<T> a, redistribute::SourceTiles<T> b, T beta,
                                std::span<const matrix_view<T>> c) {
  mpi::Context& context = plan_->context;
  mpi::agreed(context, [&] { expect_tiles(plan_->c, context.rank(), c); });
  if (alpha != T{0}) {
    const auto own_a = tiles_in(plan_->own_a, context.rank(), plan_->a_memory.data());
    const auto own_b = tiles_in(plan_->own_b, context.rank(), plan_->b_memory.data());
    plan_->there.execute({redistribute::Operands(T{1}, a, T{0}, std::span<const matrix_view<T>>(own_a)),
                          redistribute::Operands(T{1}, b, T{0}, std::span<const matrix_view<T>>(own_b))});
    plan_->multiply();
  }
  plan_->bring_back(alpha, beta, c);
}

template <Element T>
void Multiplication<T>::execute(T alpha, const layout::DistributedMatrix<T>& a, const layout::DistributedMatrix<T>& b,
                                T beta, layout::DistributedMatrix<T>& c) {
  mpi::agreed(plan_->context, [&] {
    const auto expect = [](const char* name, const Layout& planned, const Layout& given) {
      if (planned != given) throw LayoutError(fmt::format("{}: has another layout than the plan", name));
    };
    expect("A", plan_->factors.a, a.layout());
    expect("B", plan_->factors.b, b.layout());
    expect("C", plan_->c, c.layout());
  });
  execute(alpha, a.const_tiles(), b.const_tiles(), beta, c.tiles());
}

template <Element T>
const Choice& Multiplication<T>::choice() const noexcept {
  return plan_->choice;
}

template <Element T>
collective::Exchanged Multiplication<T>::product_traffic() const {
  return dense::product_traffic(plan_->choice.arrangement, plan_->choice.cut, Index{sizeof(T)}, plan_->roles.mine);
}

template <Element T>
Index Multiplication<T>::redistributed_bytes() const {
  const Index elements =
      plan_->there.volume(0).received + plan_->there.volume(1).received + plan_->back.volume().received;
  return elements * Index{sizeof(T)};
}

template class Multiplication<float>;
template class Multiplication<double>;
template class Multiplication<std::complex<float>>;
template class Multiplication<std::complex<double>>;

}  // namespace plait::dense
