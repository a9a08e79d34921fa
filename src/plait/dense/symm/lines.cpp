#include "plait/dense/symm/lines.hpp"

#include <algorithm>
#include <utility>

#include "plait/base/rounding.hpp"
#include "plait/collective/algorithm/rooted.hpp"
#include "plait/collective/algorithm/to_all.hpp"

namespace plait::dense::symm {

using collective::Segment;
using collective::Stream;

// A strand of MPI's is one segment, as long as an int can count its bytes.
Lines::Lines(mpi::Context& context, const Products& products, const Options& options, Index segment_elements)
    : context_(&context),
      products_(&products),
      by_mpi_(options.backend == Backend::mpi),
      strands_(options.strands.value_or(by_mpi_ ? 4 : 1)),
      segment_elements_(by_mpi_ ? (Index{1} << 30) / products.element_bytes : segment_elements) {}

Lines::Line Lines::line(std::vector<int> ranks) const {
  Line result{{*context_, std::move(ranks)}, {}};
  if (by_mpi_) result.of_mpi.emplace(*context_, result.group, strands_);
  return result;
}

Stream Lines::cut(Index elements, Index first_stage) const {
  const Stream stream = Stream::cut(elements, products_->element_bytes, strands_, segment_elements_);
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
