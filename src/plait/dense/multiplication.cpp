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
#include "plait/dense/blas.hpp"
#include "plait/dense/blas_threads.hpp"
#include "plait/dense/in_place.hpp"
#include "plait/dense/local_product.hpp"
#include "plait/dense/own_tile.hpp"
#include "plait/dense/product_graph.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/redistribute/communication_volume.hpp"
#include "plait/redistribute/incoming.hpp"
#include "plait/redistribute/overlap.hpp"
#include "plait/redistribute/plan.hpp"
#include "plait/redistribute/relabel.hpp"
#include "plait/schedule/schedule.hpp"

namespace plait::dense {

namespace {

using layout::Layout;
using redistribute::MatrixPair;
using redistribute::TileMemory;

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

Layout as_it_is_read(const Layout& layout, Op op) {
  return redistribute::transposes(op) ? layout.transposed() : layout;
}

/// What is moved for an arrangement, either way.
std::array<redistribute::SizedPair, 3> moves(const Factors& factors, const Layout& c, const Arrangement& arrangement,
                                             Index element_bytes) {
  return {redistribute::SizedPair{{factors.a, arrangement.a_layout(), factors.op_a}, element_bytes},
          redistribute::SizedPair{{factors.b, arrangement.b_layout(), factors.op_b}, element_bytes},
          redistribute::SizedPair{{c, arrangement.c_layout()}, element_bytes}};  // as much is moved either way
}

/// Which rank plays which role of an arrangement, so that least is moved.
std::vector<int> ranks_of_roles(const Factors& factors, const Layout& c, const Arrangement& arrangement,
                                Index element_bytes, int ranks) {
  if (arrangement.given()) return in_place_roles(c, ranks);
  return redistribute::relabel(moves(factors, c, arrangement, element_bytes), ranks).rank_of;
}

/// The same, and which role this rank has.
struct Roles {
  std::vector<int> rank_of;
  int mine = 0;

  Roles(const Factors& factors, const Layout& c, const Arrangement& arrangement, Index element_bytes, int ranks,
        int rank) {
    rank_of = ranks_of_roles(factors, c, arrangement, element_bytes, ranks);
    mine = static_cast<int>(std::ranges::find(rank_of, rank) - rank_of.begin());
  }
};

Index busiest_bytes(const Factors& factors, const Layout& c, const Arrangement& arrangement, Index element_bytes,
                    int ranks) {
  const auto pairs = moves(factors, c, arrangement, element_bytes);
  const std::vector<int> rank_of = ranks_of_roles(factors, c, arrangement, element_bytes, ranks);
  redistribute::Incoming incoming(pairs);
  return redistribute::communication_volume(incoming, rank_of).largest_rank_bytes;
}

// Beyond, counting would take long.
constexpr int most_ranks_to_compare = 256;

/// The same about: a rank's share of what does not lie where the arrangement wants it.
Index share_that_moves(const Factors& factors, const Layout& c, const Arrangement& arrangement, Index element_bytes,
                       int ranks) {
  Index elements = 0;
  const auto count = [&](const Layout& given, const Layout& own) {
    const Layout played = arrangement.given() ? own.relabeled(in_place_roles(c, ranks)) : own;
    if (!lies_as(given, played)) elements += (layout::elements(given.shape()) + ranks - 1) / ranks;
  };
  count(as_it_is_read(factors.a, factors.op_a), arrangement.a_layout());
  count(as_it_is_read(factors.b, factors.op_b), arrangement.b_layout());
  count(c, arrangement.c_layout());
  return elements * element_bytes;
}

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

void expect_tiles(const char* name, const Layout& layout, int rank, std::span<const TileMemory> tiles) {
  const std::vector<layout::TileExtent> expected = layout.tiles_of(rank);
  if (tiles.size() != expected.size()) {
    throw ShapeMismatch(
        fmt::format("{}: {} tiles, but the layout gives this rank {}", name, tiles.size(), expected.size()));
  }
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const bool by_columns = tiles[i].tile.order == StorageOrder::column_major;
    const Index rows = by_columns ? tiles[i].minor : tiles[i].major;
    const Index columns = by_columns ? tiles[i].major : tiles[i].minor;
    if (rows != expected[i].rows || columns != expected[i].columns) {
      throw ShapeMismatch(fmt::format("{}: tile {} is {} x {}, but the layout says {} x {}", name, i, rows, columns,
                                      expected[i].rows, expected[i].columns));
    }
  }
}

/// One of the factors, and how it comes to the ranks that multiply.
template <Element T>
struct Factor {
  Layout given;
  Op op;
  Layout own;
  bool travels;
  bool is_there;  // so that no exchange brings it
  Index number;   // of this rank's tile of the caller's, if it is there
  OwnTile<T> tile;

  /// \param terms  of this rank's tile, in the order in which they are multiplied; empty: as they lie
  Factor(const Layout& from, Op op_of_it, Layout to, std::vector<Stretch> terms, bool goes_round, bool stays,
         StorageOrder c_order, int rank)
      : given(from),
        op(op_of_it),
        own(std::move(to)),
        travels(goes_round),
        is_there(false),
        number(-1),
        tile(tile_of(own, std::move(terms), rank)) {
    const Layout as_read = as_it_is_read(given, op);
    const bool conjugates = is_complex<T> && redistribute::conjugates(op);
    // What would be copied here is better copied by an exchange, in parallel and while there is time, if there is one.
    const bool will_do = stays     ? true
                         : travels ? as_read.storage() == own.storage() && !conjugates
                                   : !conjugates || as_read.storage() != c_order;
    is_there = will_do && lies_as(as_read, own);
    if (is_there) number = tile_with_elements(given, rank);
  }

  static OwnTile<T> tile_of(const Layout& layout, std::vector<Stretch> terms, int rank) {
    const std::vector<layout::TileExtent> tiles = layout.tiles_of(rank);
    if (tiles.empty()) return {layout.storage(), 0, 0};
    const layout::TileExtent& mine = tiles.front();
    const bool by_columns = layout.storage() == StorageOrder::column_major;
    return {layout.storage(), by_columns ? mine.rows : mine.columns, by_columns ? mine.columns : mine.rows,
            std::move(terms)};
  }

  /// This rank's tile for a product, of which C is stored in this order.
  LocalFactor local(std::span<const TileMemory> tiles, StorageOrder c_order) {
    if (!is_there) return tile.held();
    return number < 0 ? LocalFactor{} : tile.from(tiles[static_cast<std::size_t>(number)], op, travels, c_order);
  }
  [[nodiscard]] schedule::Binding binding(const LocalFactor& factor) const {
    return schedule::Binding::input(travels ? tile.bytes(factor) : std::span<const std::byte>());
  }
  [[nodiscard]] MatrixPair pair() const { return {given, own, op}; }
};

/// The order of the terms of a role's tile of A (of B).
std::vector<Stretch> order_of_terms(const Arrangement& arrangement, int role, bool of_a) {
  if (!arrangement.given() || role >= arrangement.mesh().ranks()) return {};
  const MeshPlace me = arrangement.place(role);
  return of_a ? a_order(arrangement, me.column) : b_order(arrangement, me.row);
}

template <class T>
bool overlaps_any(const matrix_view<T>& tile, std::span<const TileMemory> others) {
  const TileMemory memory = redistribute::memory_of(tile);
  return std::ranges::any_of(others, [&](const TileMemory& other) {
    return redistribute::have_common_memory(other, memory, Index{sizeof(T)});
  });
}

/// C ← alpha·computed + beta·C, on this rank.
template <class T>
void add(T alpha, const matrix_view<T>& computed, T beta, const matrix_view<T>& c) {
  for (Index j = 0; j < c.columns(); ++j) {
    for (Index i = 0; i < c.rows(); ++i) {
      c(i, j) = beta == T{0} ? alpha * computed(i, j) : alpha * computed(i, j) + beta * c(i, j);
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

Choice choose(const mpi::Context& context, const Factors& factors, const Layout& c, Index element_bytes,
              const MultiplicationOptions& options) {
  const ProductShape wanted = factors.product_shape();
  expect_shape_of_c(wanted, c);
  const int ranks = context.size();
  expect_ranks("A", factors.a, ranks);
  expect_ranks("B", factors.b, ranks);
  expect_ranks("C", c, ranks);
  const auto moved = [&](const Arrangement& arrangement) {
    return ranks <= most_ranks_to_compare ? busiest_bytes(factors, c, arrangement, element_bytes, ranks)
                                          : share_that_moves(factors, c, arrangement, element_bytes, ranks);
  };
  return choose(
      wanted, context.machine(), context.placement(), element_bytes, options, moved,
      in_place_arrangement(as_it_is_read(factors.a, factors.op_a), as_it_is_read(factors.b, factors.op_b), c));
}

template <Element T>
struct Multiplication<T>::Plan {
  Plan(mpi::Context& in, const Factors& given, Layout given_c, const MultiplicationOptions& options)
      : context(in),
        factors(given),
        c(std::move(given_c)),
        choice(mpi::agreed(context, [&] { return choose(context, factors, c, Index{sizeof(T)}, options); })),
        roles(factors, c, choice.arrangement, Index{sizeof(T)}, context.size(), context.rank()),
        own_c(choice.arrangement.c_layout().relabeled(roles.rank_of)),
        c_is_there(choice.arrangement.mesh().layers == 1 && lies_as(c, own_c)),
        c_number(c_is_there ? tile_with_elements(c, context.rank()) : -1),
        a(factors.a, factors.op_a, choice.arrangement.a_layout().relabeled(roles.rank_of),
          order_of_terms(choice.arrangement, roles.mine, true), a_travels(choice.arrangement), is_in_place(),
          order_of_c(), context.rank()),
        b(factors.b, factors.op_b, choice.arrangement.b_layout().relabeled(roles.rank_of),
          order_of_terms(choice.arrangement, roles.mine, false), b_travels(choice.arrangement), is_in_place(),
          order_of_c(), context.rank()),
        there(planned(brought())),
        back(planned(c_is_there ? std::vector<MatrixPair>() : std::vector<MatrixPair>{{own_c, c}})),
        product(context,
                product_graph(context, choice.arrangement, choice.cut, element_kind<T>(), roles.mine, roles.rank_of),
                "multiply"),
        threads(share_of_cores(context)) {
    PLAIT_ASSERT(product.staging_bytes() <= workspace_bytes(choice.arrangement, choice.cut, Index{sizeof(T)}),
                 "what travels is counted in the workspace");
    mpi::agreed(context, [&] {
      take_memory_for_factors();
      if (!c_is_there) take_memory_for_c();
      product.prepare();
    });
    context.note_choice(fmt::format("product of {} x {} and {} x {}: {}, {} bytes of workspace", shape().rows,
                                    shape().terms, shape().terms, shape().columns, choice.arrangement.describe(),
                                    choice.workspace_bytes));
  }

  [[nodiscard]] bool is_in_place() const { return choice.arrangement.given() != nullptr; }
  [[nodiscard]] StorageOrder order_of_c() const { return c_is_there ? c.storage() : own_c.storage(); }
  [[nodiscard]] std::vector<MatrixPair> brought() const {
    std::vector<MatrixPair> pairs;
    for (const Factor<T>* factor : {&a, &b}) {
      if (!factor->is_there) pairs.push_back(factor->pair());
    }
    return pairs;
  }
  /// Nothing, where nothing moves.
  [[nodiscard]] std::unique_ptr<redistribute::Plan> planned(std::vector<MatrixPair> pairs) const {
    if (pairs.empty()) return nullptr;
    return std::make_unique<redistribute::Plan>(context, std::move(pairs),
                                                redistribute::Options{.memory_budget = choice.redistribution_bytes});
  }
  void take_memory_for_factors() {
    for (Factor<T>* factor : {&a, &b}) {
      if (!factor->is_there) static_cast<void>(factor->tile.memory());
    }
  }
  void take_memory_for_c() {
    const Index elements = tile_elements(choice.arrangement, roles.mine).c;
    if (c_memory.size() == 0 && elements > 0) c_memory = Array<T>(elements);
  }

  [[nodiscard]] const ProductShape& shape() const { return choice.arrangement.shape(); }

  /// What is final of the C that this rank computed, which layers have added up: some of its columns.
  [[nodiscard]] T* final_c() const {
    if (roles.mine >= choice.arrangement.mesh().ranks() || c_memory.size() == 0) return c_memory.data();
    const MeshPlace me = choice.arrangement.place(roles.mine);
    const Index skipped =
        choice.arrangement.final_columns(me.column, me.layer).begin - choice.arrangement.columns(me.column).begin;
    return c_memory.data() + skipped * choice.arrangement.rows(me.row).length();
  }

  /// What this rank multiplies, and where to.
  struct Operands {
    LocalFactor a, b;
    matrix_view<T> c;      // where the product is computed
    bool in_place = true;  // whether this is the caller's C
  };

  /// Checks the caller's tiles of what is multiplied where it lies, and copies those that will not do.
  Operands operands(bool multiplies, std::span<const TileMemory> given_a, std::span<const TileMemory> given_b,
                    std::span<const matrix_view<T>> given_c) {
    std::vector<TileMemory> c_tiles;
    for (const matrix_view<T>& tile : given_c) c_tiles.push_back(redistribute::memory_of(tile));
    expect_tiles("C", c, context.rank(), c_tiles);
    Operands result;
    if (c_number >= 0) result.c = given_c[static_cast<std::size_t>(c_number)];
    if (!multiplies) return result;
    take_memory_for_factors();
    if (a.is_there) expect_tiles("A", factors.a, context.rank(), given_a);
    if (b.is_there) expect_tiles("B", factors.b, context.rank(), given_b);
    const bool is_shared =
        c_is_there && !result.c.empty() && (overlaps_any(result.c, given_a) || overlaps_any(result.c, given_b));
    if (!c_is_there || is_shared) {
      take_memory_for_c();
      result.in_place = false;
      const layout::Shape mine = computed_shape();
      result.c = {c_memory.data(), mine.rows, mine.columns, std::max(Index{1}, mine.rows)};
    }
    result.a = a.local(given_a, result.c.order());
    result.b = b.local(given_b, result.c.order());
    return result;
  }
  [[nodiscard]] layout::Shape computed_shape() const {
    if (roles.mine >= choice.arrangement.mesh().ranks()) return {};
    const MeshPlace me = choice.arrangement.place(roles.mine);
    return {choice.arrangement.rows(me.row).length(), choice.arrangement.columns(me.column).length()};
  }

  void bring(redistribute::SourceTiles<T> given_a, redistribute::SourceTiles<T> given_b, Agreement agreement) {
    if (!there) return;
    std::vector<redistribute::Operands> moves;
    const auto add_move = [&](Factor<T>& factor, const redistribute::SourceTiles<T>& given) {
      if (factor.is_there) return;
      const std::vector<matrix_view<T>> own = tiles_in(factor.own, context.rank(), factor.tile.memory());
      moves.emplace_back(T{1}, given, T{0}, std::span<const matrix_view<T>>(own));
    };
    add_move(a, given_a);
    add_move(b, given_b);
    there->start(moves, nullptr, agreement);
    there->wait();
  }

  /// C ← alpha·A·B + beta·C where it is computed.
  void multiply(T alpha, const Operands& operands, T beta) {
    const BlasThreads few(threads);
    const ProductArguments arguments{operands.a,
                                     operands.b,
                                     reinterpret_cast<std::byte*>(operands.c.data()),
                                     operands.c.leading_dimension(),
                                     operands.c.order(),
                                     &alpha,
                                     &beta};
    const bool sums_up = choice.arrangement.mesh().layers > 1;
    const std::array bindings{
        a.binding(operands.a), b.binding(operands.b),
        schedule::Binding::output(sums_up ? std::as_writable_bytes(c_memory.span()) : std::span<std::byte>())};
    product.start(bindings, &arguments);
    product.wait();
  }

  void bring_back(T alpha, T beta, std::span<const matrix_view<T>> target, Agreement agreement) {
    const std::vector<matrix_view<T>> computed = tiles_in(own_c, context.rank(), final_c());
    const redistribute::Operands move(alpha, computed, beta, target);
    back->start(std::span(&move, 1), nullptr, agreement);
    back->wait();
  }

  mpi::Context& context;
  Factors factors;
  Layout c;
  Choice choice;
  Roles roles;
  Layout own_c;
  bool c_is_there;
  Index c_number;  // of this rank's tile of the caller's, if it is there
  Factor<T> a, b;
  std::unique_ptr<redistribute::Plan> there, back;  // of what does not lie where it is multiplied
  schedule::Schedule product;
  int threads;
  Array<T> c_memory;
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
                                std::span<const matrix_view<T>> c, Agreement agreement) {
  Plan& plan = *plan_;
  const bool multiplies = alpha != T{0};
  const auto checked = [&] { return plan.operands(multiplies, a.memory().all(), b.memory().all(), c); };
  const auto operands = agreement == Agreement::needed ? mpi::agreed(plan.context, checked) : checked();
  if (!multiplies) {
    if (plan.c_is_there) return scale(beta, operands.c);
    return plan.bring_back(alpha, beta, c, agreement);
  }
  plan.bring(a, b, agreement);
  if (operands.in_place) return plan.multiply(alpha, operands, beta);
  plan.multiply(T{1}, operands, T{0});
  if (!plan.c_is_there) return plan.bring_back(alpha, beta, c, agreement);
  if (!operands.c.empty()) add(alpha, operands.c, beta, c[static_cast<std::size_t>(plan.c_number)]);
}

template <Element T>
void Multiplication<T>::execute(T alpha, const layout::DistributedMatrix<T>& a, const layout::DistributedMatrix<T>& b,
                                T beta, layout::DistributedMatrix<T>& c) {
  mpi::agreed(plan_->context, [&] {
    const auto expect = [&](const char* name, const Layout& planned, const auto& given) {
      if (given.rank() != plan_->context.rank()) {
        throw ArgumentError(fmt::format("{}: has the tiles of rank {}, but this is rank {}", name, given.rank(),
                                        plan_->context.rank()));
      }
      const Layout& layout = given.layout();
      if (planned.rows() != layout.rows() || planned.columns() != layout.columns() ||
          planned.owners() != layout.owners()) {
        throw LayoutError(fmt::format("{}: has another layout than the plan", name));
      }
    };
    expect("A", plan_->factors.a, a);
    expect("B", plan_->factors.b, b);
    expect("C", plan_->c, c);
  });
  execute(alpha, a.const_tiles(), b.const_tiles(), beta, c.tiles());
}

template <Element T>
void Multiplication<T>::release_memory() noexcept {
  plan_->a.tile.release();
  plan_->b.tile.release();
  plan_->c_memory = {};
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
  Index elements = 0;
  for (const auto& moves : {plan_->there.get(), plan_->back.get()}) {
    if (moves == nullptr) continue;
    for (std::size_t pair = 0; pair < moves->pairs().size(); ++pair) elements += moves->volume(pair).received;
  }
  return elements * Index{sizeof(T)};
}

template <Element T>
typename Multiplication<T>::InPlace Multiplication<T>::in_place() const noexcept {
  return {plan_->a.is_there, plan_->b.is_there, plan_->c_is_there};
}

template class Multiplication<float>;
template class Multiplication<double>;
template class Multiplication<std::complex<float>>;
template class Multiplication<std::complex<double>>;

}  // namespace plait::dense
