#include "plait/dense/multiplication.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "plait/base/contract.hpp"
#include "plait/base/error.hpp"
#include "plait/base/memory.hpp"
#include "plait/dense/arrangement/moves.hpp"
#include "plait/dense/blas/blas.hpp"
#include "plait/dense/blas/blas_threads.hpp"
#include "plait/dense/factor.hpp"
#include "plait/dense/local_product.hpp"
#include "plait/dense/panels.hpp"
#include "plait/dense/product_graph.hpp"
#include "plait/layout/fingerprint.hpp"
#include "plait/layout/text.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/redistribute/plan.hpp"
#include "plait/schedule/schedule.hpp"

namespace plait::dense {

namespace {

using layout::Layout;
using redistribute::MatrixPair;
using redistribute::TileList;
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

/// Adds what all ranks have to give alike.
void name_arguments(const Factors& factors, const Layout& c, const MultiplicationOptions& options,
                    mpi::Alike& arguments) {
  arguments.add("layout of A, as a checksum", layout::fingerprint(factors.a));
  arguments.add("op of A", factors.op_a);
  arguments.add("layout of B, as a checksum", layout::fingerprint(factors.b));
  arguments.add("op of B", factors.op_b);
  arguments.add("layout of C, as a checksum", layout::fingerprint(c));
  if (options.method) arguments.add("method", *options.method);
  arguments.add("rows of the mesh", options.mesh.rows);
  arguments.add("columns of the mesh", options.mesh.columns);
  arguments.add("layers of the mesh", options.mesh.layers);
  arguments.add("order of the mesh", options.mesh.order);
  if (options.memory_limit) arguments.add("memory_limit", *options.memory_limit);
  arguments.add("panel_terms", options.panel_terms);
  arguments.add("redistribution_bytes", options.redistribution_bytes);
}

/// Which rank plays which role, and which role this rank has.
struct Roles {
  std::vector<int> rank_of;
  int mine = 0;

  Roles(const Factors& factors, const Layout& c, const Arrangement& arrangement, Index element_bytes, int ranks,
        int rank)
      : rank_of(ranks_of_roles(factors, c, arrangement, element_bytes, ranks)),
        mine(static_cast<int>(std::ranges::find(rank_of, rank) - rank_of.begin())) {}
};

/// Whether a role has a tile whose terms may have to be put in order.
bool orders_terms(const Arrangement& arrangement, int role) {
  return arrangement.given() != nullptr && role < arrangement.mesh().ranks();
}
std::vector<Stretch> a_order_of(const Arrangement& arrangement, int role) {
  if (!orders_terms(arrangement, role)) return {};
  return a_order(arrangement, arrangement.mesh().place(role).column);
}
std::vector<Stretch> b_order_of(const Arrangement& arrangement, int role) {
  if (!orders_terms(arrangement, role)) return {};
  return b_order(arrangement, arrangement.mesh().place(role).row);
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

Choice choose(const Factors& factors, const Layout& c, const model::Machine& machine, const model::Placement& placement,
              Index element_bytes, const MultiplicationOptions& options) {
  const ProductShape wanted = factors.product_shape();
  expect_shape_of_c(wanted, c);
  expect_ranks("A", factors.a, placement.ranks);
  expect_ranks("B", factors.b, placement.ranks);
  expect_ranks("C", c, placement.ranks);
  const auto moved = [&](const Arrangement& arrangement) {
    return moved_bytes(factors, c, arrangement, element_bytes, placement.ranks);
  };
  return choose(
      wanted, machine, placement, element_bytes, options, moved,
      in_place_arrangement(as_it_is_read(factors.a, factors.op_a), as_it_is_read(factors.b, factors.op_b), c));
}

template <Field T>
struct Multiplication<T>::Plan {
  /// Local; `bring_about` does the rest.
  Plan(mpi::Context& in, const Factors& given, Layout given_c, const MultiplicationOptions& options)
      : context(in),
        factors(given),
        c(std::move(given_c)),
        choice(choose(factors, c, context.machine(), context.placement(), Index{sizeof(T)}, options)),
        roles(factors, c, choice.arrangement, Index{sizeof(T)}, context.size(), context.rank()),
        own_c(choice.arrangement.c_layout().relabeled(roles.rank_of)),
        c_is_there(choice.arrangement.mesh().layers == 1 && lies_as(c, own_c)),
        c_number(c_is_there ? tile_with_elements(c, context.rank()) : -1),
        c_tiles("C", c, context.rank()),
        own_c_tile(only_tile(own_c, context.rank())),
        a("A", factors.a, factors.op_a, choice.arrangement.a_layout().relabeled(roles.rank_of),
          {a_order_of(choice.arrangement, roles.mine), a_travels(choice.arrangement), is_in_place(), order_of_c()},
          context.rank()),
        b("B", factors.b, factors.op_b, choice.arrangement.b_layout().relabeled(roles.rank_of),
          {b_order_of(choice.arrangement, roles.mine), b_travels(choice.arrangement), is_in_place(), order_of_c()},
          context.rank()) {}

  /// Collective.
  void bring_about() {
    threads = context.topology().share_of_cores();
    if (!a.is_there() || !b.is_there()) there = planned([&] { return brought(); });
    if (!c_is_there) back = planned([&] { return std::vector<MatrixPair>{{own_c, c}}; });
    mpi::agreed(context, [&] {
      product.emplace(
          context, product_graph(context, choice.arrangement, choice.cut, element_kind<T>(), roles.mine, roles.rank_of),
          "multiply");
      PLAIT_ASSERT(product->staging_bytes() <= workspace_bytes(choice.arrangement, choice.cut, Index{sizeof(T)}),
                   "what travels is counted in the workspace");
      a.take_memory();
      b.take_memory();
      if (!c_is_there) take_memory_for_c();
      product->prepare();
      moves.reserve(2);
      context.choices().note(fmt::format("product of {} x {} and {} x {}: {}, {} bytes of workspace", shape().rows,
                                         shape().terms, shape().terms, shape().columns, choice.arrangement.describe(),
                                         choice.workspace_bytes));
    });
  }

  [[nodiscard]] bool is_in_place() const { return choice.arrangement.given() != nullptr; }
  [[nodiscard]] StorageOrder order_of_c() const { return c_is_there ? c.storage() : own_c.storage(); }
  [[nodiscard]] std::vector<MatrixPair> brought() const {
    std::vector<MatrixPair> pairs;
    for (const Factor<T>* factor : {&a, &b}) {
      if (!factor->is_there()) pairs.push_back(factor->pair());
    }
    return pairs;
  }
  template <class MakePairs>
  [[nodiscard]] std::unique_ptr<redistribute::Plan> planned(MakePairs&& make_pairs) const {
    return redistribute::Plan::agreed(context, make_pairs,
                                      redistribute::Options{.memory_budget = choice.redistribution_bytes});
  }
  void take_memory_for_c() {
    const Index elements = tile_elements(choice.arrangement, roles.mine).c;
    if (c_memory.size() == 0 && elements > 0) c_memory = Array<T>(elements);
  }

  [[nodiscard]] const ProductShape& shape() const { return choice.arrangement.shape(); }

  /// What is final of the C that this rank computed, which layers have added up: some of its columns.
  [[nodiscard]] T* final_c() const {
    if (roles.mine >= choice.arrangement.mesh().ranks() || c_memory.size() == 0) return c_memory.data();
    const GridPlace me = choice.arrangement.mesh().place(roles.mine);
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
    TileList tiles;
    for (const matrix_view<T>& tile : given_c) tiles.add(redistribute::memory_of(tile));
    c_tiles.expect(tiles.all());
    Operands result;
    if (c_number >= 0) result.c = given_c[static_cast<std::size_t>(c_number)];
    if (!multiplies) return result;
    a.take_memory();
    b.take_memory();
    a.expect(given_a);
    b.expect(given_b);
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
    const GridPlace me = choice.arrangement.mesh().place(roles.mine);
    return {choice.arrangement.rows(me.row).length(), choice.arrangement.columns(me.column).length()};
  }

  void bring(redistribute::SourceTiles<T> given_a, redistribute::SourceTiles<T> given_b, Agreement agreement) {
    if (!there) return;
    moves.clear();
    if (!a.is_there()) moves.emplace_back(T{1}, given_a, T{0}, a.target());
    if (!b.is_there()) moves.emplace_back(T{1}, given_b, T{0}, b.target());
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
        schedule::Binding::input(a.sent(operands.a)), schedule::Binding::input(b.sent(operands.b)),
        schedule::Binding::output(sums_up ? std::as_writable_bytes(c_memory.span()) : std::span<std::byte>())};
    product->start(bindings, &arguments);
    product->wait();
  }

  void bring_back(T alpha, T beta, std::span<const matrix_view<T>> target, Agreement agreement) {
    const matrix_view<T> tile = own_c_tile ? packed_tile(*own_c_tile, own_c.storage(), final_c()) : matrix_view<T>();
    const std::span<const matrix_view<T>> computed(&tile, own_c_tile ? 1 : 0);
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
  Index c_number;                                // of this rank's tile of the caller's, if it is there
  ExpectedTiles c_tiles;                         // of the caller
  std::optional<layout::TileExtent> own_c_tile;  // of this rank
  Factor<T> a, b;
  std::vector<redistribute::Operands> moves;        // of the execution under way; here, so that it allocates nothing
  std::unique_ptr<redistribute::Plan> there, back;  // of what does not lie where it is multiplied
  std::optional<schedule::Schedule> product;
  int threads = 1;
  Array<T> c_memory;
};

template <Field T>
Multiplication<T>::Multiplication(mpi::Context& context, const Factors& factors, Layout c,
                                  const MultiplicationOptions& options)
    : plan_(mpi::agreed(context, [&](mpi::Alike& arguments) {
        arguments.add_type<T>();
        name_arguments(factors, c, options, arguments);
        return std::make_unique<Plan>(context, factors, std::move(c), options);
      })) {
  plan_->bring_about();
}

template <Field T>
Multiplication<T>::Multiplication(Multiplication&&) noexcept = default;
template <Field T>
Multiplication<T>& Multiplication<T>::operator=(Multiplication&&) noexcept = default;
template <Field T>
Multiplication<T>::~Multiplication() = default;

template <Field T>
void Multiplication<T>::execute(T alpha, redistribute::SourceTiles<T> a, redistribute::SourceTiles<T> b, T beta,
                                std::span<const matrix_view<T>> c, Agreement agreement) {
  Plan& plan = *plan_;
  const bool multiplies = alpha != T{0};
  const auto checked = [&] { return plan.operands(multiplies, a.memory().all(), b.memory().all(), c); };
  const auto with_scalars = [&](mpi::Alike& arguments) {
    arguments.add("alpha", alpha);
    arguments.add("beta", beta);
    return checked();
  };
  const auto operands = agreement == Agreement::needed ? mpi::agreed(plan.context, with_scalars) : checked();
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

template <Field T>
void Multiplication<T>::execute(T alpha, const layout::DistributedMatrix<T>& a, const layout::DistributedMatrix<T>& b,
                                T beta, layout::DistributedMatrix<T>& c) {
  mpi::agreed(plan_->context, [&] {
    const auto expect = [&](const char* name, const Layout& planned, const auto& given) {
      if (given.rank() != plan_->context.rank()) {
        throw ArgumentError(fmt::format("{}: has the tiles of rank {}, but this is rank {}", name, given.rank(),
                                        plan_->context.rank()));
      }
      if (layout::distributes_alike(given.layout(), planned)) return;
      throw LayoutError(fmt::format("{}: is in the layout {}, expected {}, as planned", name,
                                    layout::describe(given.layout()), layout::describe(planned)));
    };
    expect("A", plan_->factors.a, a);
    expect("B", plan_->factors.b, b);
    expect("C", plan_->c, c);
  });
  execute(alpha, a.const_tiles(), b.const_tiles(), beta, c.tiles());
}

template <Field T>
void Multiplication<T>::release_memory() noexcept {
  plan_->a.release_memory();
  plan_->b.release_memory();
  plan_->c_memory = {};
}

template <Field T>
const Choice& Multiplication<T>::choice() const noexcept {
  return plan_->choice;
}

template <Field T>
Exchanged Multiplication<T>::product_traffic() const {
  return plan_->product ? plan_->product->traffic() : Exchanged{};
}

template <Field T>
Index Multiplication<T>::redistributed_bytes() const {
  Index elements = 0;
  for (const auto& moves : {plan_->there.get(), plan_->back.get()}) {
    if (moves == nullptr) continue;
    for (std::size_t pair = 0; pair < moves->pairs().size(); ++pair) elements += moves->volume(pair).received;
  }
  return elements * Index{sizeof(T)};
}

template <Field T>
typename Multiplication<T>::InPlace Multiplication<T>::in_place() const noexcept {
  return {plan_->a.is_there(), plan_->b.is_there(), plan_->c_is_there};
}

template class Multiplication<float>;
template class Multiplication<double>;
template class Multiplication<std::complex<float>>;
template class Multiplication<std::complex<double>>;

}  // namespace plait::dense
