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

// start(communicator, in, out) for each segment. What it leaves is final one stage later: positions order the requests,
// nothing else.
template <class Start>
Stream MpiStrands::append(Graph& graph, const Stream& stream, Place in, Place out, const Start& start) const {
  std::vector<Segment> results;
  for (const Segment& segment : stream.segments()) {
    const Range from = stream.range(in, segment);
    const Range to = stream.range(out, segment);
    if (from.bytes > std::numeric_limits<int>::max()) {
      throw ArgumentError("stream: a segment of " + std::to_string(from.bytes) + " bytes, expected at most " +
                          std::to_string(std::numeric_limits<int>::max()) + " for a collective of the MPI library");
    }
    Segment& result = results.emplace_back(segment);
    ++result.stage;
    if (!group_.contains_me()) continue;
    const auto begin = [strands = strands_, strand = segment.strand, from, to, start](const schedule::Run& run) {
      return start(strands->at(at(strand)), bytes_of(run, from), bytes_of(run, to));
    };
    result.readers = {};
    result.final = {graph.request(segment.position(), begin, {from.slot, to.slot}, segment.final_and_read())};
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
  return append(graph, stream, data, data,
                [root](const mpi::Communicator& comm, std::span<const std::byte>, std::span<std::byte> to) {
                  return mpi::start_broadcast(comm, to, root);
                });
}

Stream MpiStrands::reduce(Graph& graph, int root, const Stream& stream, Place in, Place out,
                          const mpi::Reduction& reduction) const {
  group_.expect_member(root);
  check(stream, reduction);
  return append(
      graph, stream, in, out,
      [reduction, root](const mpi::Communicator& comm, std::span<const std::byte> from, std::span<std::byte> to) {
        return mpi::start_reduce(comm, from, to, reduction, root);
      });
}

Stream MpiStrands::allreduce(Graph& graph, const Stream& stream, Place in, Place out,
                             const mpi::Reduction& reduction) const {
  check(stream, reduction);
  return append(graph, stream, in, out,
                [reduction](const mpi::Communicator& comm, std::span<const std::byte> from, std::span<std::byte> to) {
                  return mpi::start_all_reduce(comm, from, to, reduction);
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
