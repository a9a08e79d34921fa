#include "plait/collective/mpi_strands.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "plait/base/error.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/mpi_collectives.hpp"

namespace plait::collective {

namespace {

std::span<std::byte> bytes_of(const schedule::Run& run, Range range) {
  return {run.address(range.slot, range.offset), static_cast<std::size_t>(range.bytes)};
}

const mpi::Communicator& comm_of(const std::vector<mpi::Communicator>& strands, int strand) {
  return strands.at(static_cast<std::size_t>(strand));
}

}  // namespace

MpiStrands::MpiStrands(const mpi::Context& context, Group group, int strands) : group_(std::move(group)) {
  expect_strands(strands);
  if (!group_.contains_me()) return;
  auto first = context.comm().subset(group_.ranks(), 0);
  std::shared_ptr<Communicators> made;
  mpi::with_memory_on_all_ranks(first, [&] {
    made = std::make_shared<Communicators>();
    made->reserve(static_cast<std::size_t>(strands));
  });
  made->push_back(std::move(first));
  while (static_cast<int>(made->size()) < strands)
    made->push_back(mpi::Communicator::duplicate(made->front().handle()));
  strands_ = std::move(made);
}

// What an operation leaves is final one stage later: positions order the requests, nothing else.
template <class Append>
Stream MpiStrands::append_to_each(const Stream& stream, Append append) const {
  std::vector<Segment> results;
  for (const Segment& segment : stream.segments()) {
    if (segment.elements() * stream.element_bytes() > std::numeric_limits<int>::max()) {
      throw ArgumentError("stream: a segment of " + std::to_string(segment.elements() * stream.element_bytes()) +
                          " bytes, expected at most " + std::to_string(std::numeric_limits<int>::max()) +
                          " for a collective of the MPI library");
    }
    Segment& result = results.emplace_back(segment);
    ++result.stage;
    if (!group_.contains_me()) continue;
    result.readers = {};
    result.final = {append(segment)};
  }
  return {stream.element_bytes(), std::move(results)};
}

void MpiStrands::check(const Stream& stream, const mpi::Reduction& reduction) const {
  if (reduction.element_bytes != stream.element_bytes()) {
    throw ArgumentError("reduction: of elements of " + std::to_string(reduction.element_bytes) +
                        " bytes, expected the stream's " + std::to_string(stream.element_bytes()));
  }
  if (mpi::compares_unsigned(reduction)) {
    throw ArgumentError(
        "reduction: maximum or minimum of unsigned integers, which MPI libraries compare as signed; expected another "
        "one, or plait's own algorithms");
  }
}

Stream MpiStrands::broadcast(Graph& graph, int root, const Stream& stream, Place data) const {
  group_.expect_member(root);
  return append_to_each(stream, [&](const Segment& segment) {
    const Range range = stream.range(data, segment);
    const auto start = [strands = strands_, strand = segment.strand, range, root](const schedule::Run& run) {
      return mpi::start_broadcast(comm_of(*strands, strand), bytes_of(run, range), root);
    };
    return graph.request(segment.position(), start, {range.slot}, segment.final_and_read());
  });
}

Stream MpiStrands::reduce(Graph& graph, int root, const Stream& stream, Place in, Place out,
                          const mpi::Reduction& reduction) const {
  group_.expect_member(root);
  check(stream, reduction);
  return append_to_each(stream, [&](const Segment& segment) {
    const Range from = stream.range(in, segment);
    const Range to = stream.range(out, segment);
    const auto start = [strands = strands_, strand = segment.strand, from, to, reduction,
                        root](const schedule::Run& run) {
      return mpi::start_reduce(comm_of(*strands, strand), bytes_of(run, from), bytes_of(run, to), reduction, root);
    };
    return graph.request(segment.position(), start, {from.slot, to.slot}, segment.final_and_read());
  });
}

Stream MpiStrands::allreduce(Graph& graph, const Stream& stream, Place in, Place out,
                             const mpi::Reduction& reduction) const {
  check(stream, reduction);
  return append_to_each(stream, [&](const Segment& segment) {
    const Range from = stream.range(in, segment);
    const Range to = stream.range(out, segment);
    const auto start = [strands = strands_, strand = segment.strand, from, to, reduction](const schedule::Run& run) {
      return mpi::start_all_reduce(comm_of(*strands, strand), bytes_of(run, from), bytes_of(run, to), reduction);
    };
    return graph.request(segment.position(), start, {from.slot, to.slot}, segment.final_and_read());
  });
}

std::function<void(std::span<std::byte> elements, Index first)> told_to(
    std::shared_ptr<MpiVerdict> verdict, std::function<void(std::span<std::byte> elements, Index first)> f) {
  return [verdict = std::move(verdict), f = std::move(f)](std::span<std::byte> elements, Index first) {
    try {
      f(elements, first);
    } catch (...) {
      verdict->failed_here = verdict->comm.rank();
      throw;
    }
  };
}

void append_verdict(Graph& graph, const std::shared_ptr<MpiVerdict>& verdict, const Stream& stream,
                    const std::string& label) {
  schedule::Position end;
  schedule::Dependencies after;
  for (const Segment& segment : stream.segments()) {
    end.stage = std::max(end.stage, segment.stage + 1);
    append(after, segment.final_and_read());
  }
  const auto start = [verdict](const schedule::Run&) {
    verdict->lowest = std::exchange(verdict->failed_here, verdict->comm.size());
    const std::span lowest(&verdict->lowest, 1);
    return mpi::start_all_reduce(verdict->comm, std::as_bytes(lowest), std::as_writable_bytes(lowest),
                                 mpi::reduction<Index>(mpi::Operation::minimum()));
  };
  const auto told = graph.request(end, start, {}, std::move(after));
  const auto judge = [verdict, label](const schedule::Run&, Index) {
    if (verdict->lowest == verdict->comm.size()) return;
    const auto rank = static_cast<int>(verdict->lowest);
    throw PeerFailed(rank, "rank " + std::to_string(rank) + " failed during " + label + ": its data did not come");
  };
  static_cast<void>(graph.compute(end, 1, judge, {}, {told}));
}

}  // namespace plait::collective
