#include "plait/dense/symm/scheduled.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "plait/base/rounding.hpp"
#include "plait/collective/algorithm/rooted.hpp"
#include "plait/collective/algorithm/to_all.hpp"

namespace plait::dense::symm {

using collective::Segment;
using collective::Stream;

Index Scheduled::segment_elements() const noexcept {
  return symm::segment_elements(mesh(), options(), products_->element_bytes());
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

// A strand of MPI's is one segment, as long as an int can count its bytes.
Lines::Lines(mpi::Context& context, const Products& products, const Options& options, Index segment_elements)
    : context_(&context),
      products_(&products),
      by_mpi_(options.backend == Backend::mpi),
      strands_(options.strands.value_or(by_mpi_ ? 4 : 1)),
      segment_elements_(by_mpi_ ? (Index{1} << 30) / products.element_bytes() : segment_elements) {}

Lines::Line Lines::line(std::vector<int> ranks) const {
  Line result{{*context_, std::move(ranks)}, {}};
  if (by_mpi_) result.of_mpi.emplace(*context_, result.group, strands_);
  return result;
}

Stream Lines::cut(Index elements, Index first_stage) const {
  const Stream stream = Stream::cut(elements, products_->element_bytes(), strands_, segment_elements_);
  std::vector<Segment> segments = stream.segments();
  for (Segment& segment : segments) segment.stage += first_stage;
  return {stream.element_bytes(), std::move(segments)};
}

Index Lines::stages(Index elements) const {
  const Index of_strand = quotient_up(elements, strands_);
  return quotient_up(of_strand, segment_elements_);
}

Stream Lines::broadcast(Graph& graph, const Line& line, int root, const Stream& stream, Place data) const {
  return line.of_mpi ? line.of_mpi->broadcast(graph, root, stream, data)
                     : collective::broadcast_chain(graph, line.group, root, stream, data);
}

Stream Lines::reduce(Graph& graph, const Line& line, int root, const Stream& stream, Place in, Place out) const {
  return line.of_mpi ? line.of_mpi->reduce(graph, root, stream, in, out, products_->sum)
                     : collective::reduce_chain(graph, line.group, root, stream, {in, out, products_->combine});
}

Stream Lines::allreduce(Graph& graph, const Line& line, const Stream& stream, Place in, Place out) const {
  return line.of_mpi ? line.of_mpi->allreduce(graph, stream, in, out, products_->sum)
                     : collective::allreduce_ring(graph, line.group, stream, {in, out, products_->combine});
}

Stream after(const Stream& stream, schedule::OperationId operation) {
  std::vector<Segment> segments = stream.segments();
  for (Segment& segment : segments) segment.final = {operation}, segment.readers = {};
  return {stream.element_bytes(), std::move(segments)};
}

}  // namespace plait::dense::symm
