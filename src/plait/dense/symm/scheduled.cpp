#include "plait/dense/symm/scheduled.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "plait/base/rounding.hpp"
#include "plait/dense/symm/plan.hpp"

namespace plait::dense::symm {

namespace {

constexpr Index least_columns = 32;  // which BLAS needs to be fast
constexpr Index multiplications_of_step = Index{1} << 24;

}  // namespace

Index Scheduled::segment_elements() const noexcept {
  return symm::segment_elements(mesh(), options(), products_->element_bytes);
}

Index Scheduled::needed_workspace_bytes() const {
  return mesh().contains(context_->rank()) ? bytes(workspace_elements()) : 0;
}

schedule::Schedule Scheduled::schedule(Powers powers) {
  Graph graph(strands());
  const layout::Shape home = home_shape(context_->rank());
  const Index home_bytes = bytes(home.rows * home.columns);
  Slots slots{};
  slots.d = graph.input(home_bytes);
  slots.d2 = graph.output(home_bytes);
  slots.d3 = graph.output(powers == Powers::square_and_cube ? home_bytes : 0);
  slots.workspace = graph.output(needed_workspace_bytes());
  if (mesh().contains(context_->rank())) build(graph, slots, powers);
  return {
      *context_, std::move(graph), powers == Powers::square_and_cube ? "symm square cube" : "symm square", {32, 32, 8}};
}

void Scheduled::make(Powers powers) {
  if (workspace_.size() < needed_workspace_bytes()) workspace_ = Buffer(needed_workspace_bytes());
  schedules_[index_of(powers)].emplace(schedule(powers));
}

void Scheduled::prepare(Powers powers) { schedules_[index_of(powers)]->prepare(); }

void Scheduled::run(const Operands& operands, Powers powers) {
  const layout::Shape home = home_shape(context_->rank());
  const auto size = static_cast<std::size_t>(bytes(home.rows * home.columns));
  const std::array bindings{schedule::Binding::input({operands.d, size}),
                            schedule::Binding::output({operands.d2, size}),
                            schedule::Binding::output({operands.d3, powers == Powers::square_and_cube ? size : 0}),
                            schedule::Binding::output(workspace_.bytes())};
  schedule::Schedule& its_schedule = *schedules_[index_of(powers)];
  its_schedule.start(bindings);
  its_schedule.wait();
}

Index SteppedProduct::columns_of_step() const noexcept {
  const Index work = std::max<Index>(1, rows * inner);
  return std::max(least_columns, multiplications_of_step / work);
}

Index SteppedProduct::steps() const noexcept { return rows == 0 ? 0 : quotient_up(columns, columns_of_step()); }

void SteppedProduct::make_step(const Products& products, const schedule::Run& run, Index step) const {
  const Index first = step * columns_of_step();
  const Index count = std::min(columns_of_step(), columns - first);
  const auto at = [&](const schedule::Range& range, Index elements) {
    return run.address(range.slot, range.offset + elements * products.element_bytes);
  };
  const ConstBlock left = op_a == Op::identity ? packed(at(a, 0), rows, inner) : packed(at(a, 0), inner, rows);
  // Columns of op(B) are rows of B where it is transposed.
  const ConstBlock right = op_b == Op::identity ? packed(at(b, first * inner), inner, count)
                                                : ConstBlock(at(b, first), count, inner, std::max<Index>(1, columns));
  const auto multiply = adds ? products.multiply_and_add : products.multiply;
  multiply(op_a, left, op_b, right, packed(at(c, first * rows), rows, count));
}

schedule::OperationId SteppedProduct::append(schedule::Graph& graph, schedule::Position position,
                                             const Products& products, schedule::Dependencies after) const {
  const auto f = [product = *this, &products](const schedule::Run& run, Index step) {
    product.make_step(products, run, step);
  };
  return graph.compute(position, steps(), f, {a.slot, b.slot, c.slot}, std::move(after));
}

}  // namespace plait::dense::symm
