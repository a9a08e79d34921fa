#include "plait/collective/stream.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "plait/base/contract.hpp"
#include "plait/base/error.hpp"
#include "plait/base/rounding.hpp"

namespace plait::collective {

namespace {

// Of `count` things the first that belongs to the given one of `parts` nearly equal parts.
constexpr Index first_of(Index part, Index parts, Index count) {
  return count / parts * part + std::min(part, count % parts);
}

template <class Wanted>
OperationId join(Graph& graph, const std::vector<Segment>& segments, Wanted wanted) {
  Position last;
  Dependencies all;
  for (const Segment& segment : segments) {
    if (!wanted(segment)) continue;
    last = std::max(last, segment.position());
    append(all, segment.final_and_read());
  }
  return graph.compute(last, 0, {}, {}, std::move(all));
}

constexpr Index copy_step_bytes = Index{256} << 10;

}  // namespace

void append_new(Dependencies& all, const Dependencies& more) {
  for (const OperationId operation : more) {
    if (std::find(all.begin(), all.end(), operation) == all.end()) all.push_back(operation);
  }
}

Dependencies Segment::final_and_read() const {
  Dependencies all = final;
  append(all, readers);
  return all;
}

void expect_strands(Index strands) {
  expect_at_least("strands", strands, 1);
  if (strands > most_strands)
    throw ArgumentError("strands: " + std::to_string(strands) + ", expected at most " + std::to_string(most_strands));
}

Stream Stream::cut(Index elements, Index element_bytes, int strands, Index segment_elements, Index begin) {
  expect_at_least("elements", elements, 0);
  expect_at_least("element_bytes", element_bytes, 1);
  expect_strands(strands);
  expect_at_least("segment_elements", segment_elements, 1);
  std::vector<Segment> segments;
  for (int strand = 0; strand < strands; ++strand) {
    const Index end = begin + first_of(strand + 1, strands, elements);
    Index number = 0;
    for (Index first = begin + first_of(strand, strands, elements); first < end; ++number) {
      const Index next = first + std::min(segment_elements, end - first);
      segments.push_back({.begin = first, .end = next, .strand = strand, .number = number, .stage = number});
      first = next;
    }
  }
  return {element_bytes, std::move(segments)};
}

Index Stream::longest_bytes() const noexcept {
  Index longest = 0;
  for (const Segment& segment : segments_) longest = std::max(longest, segment.elements() * element_bytes_);
  return longest;
}

OperationId Stream::final(Graph& graph, int strand) const {
  return join(graph, segments_, [strand](const Segment& segment) { return segment.strand == strand; });
}

OperationId Stream::final(Graph& graph) const {
  return join(graph, segments_, [](const Segment&) { return true; });
}

std::vector<Segment> split(const Segment& segment, int parts) {
  std::vector<Segment> pieces(static_cast<std::size_t>(parts), segment);
  for (int part = 0; part < parts; ++part) {
    Segment& piece = pieces[static_cast<std::size_t>(part)];
    piece.begin = segment.begin + first_of(part, parts, segment.elements());
    piece.end = segment.begin + first_of(part + 1, parts, segment.elements());
  }
  return pieces;
}

void expect_pairwise(const Stream& stream, const schedule::Combine& combine) {
  if (combine.element_bytes() != stream.element_bytes()) {
    throw ArgumentError("combine: takes elements of " + std::to_string(combine.element_bytes()) +
                        " bytes, expected the stream's " + std::to_string(stream.element_bytes()));
  }
  if (combine.sum_of_all() != nullptr) {
    throw ArgumentError("combine: sums up all operands at once, expected an operation on two operands");
  }
}

Index most_within(const Stream& stream, Index stages) {
  std::vector<Index> begins;
  for (const Segment& segment : stream.segments()) begins.push_back(segment.stage);
  std::sort(begins.begin(), begins.end());
  Index most = 0;
  for (auto first = begins.begin(), last = begins.begin(); last != begins.end(); ++last) {
    while (*last - *first > stages) ++first;
    most = std::max<Index>(most, last - first + 1);
  }
  return most;
}

Index staged_blocks(const Stream& stream, Index stages) {
  const Index all = std::ssize(stream.segments());
  return std::max(most_within(stream, stages), std::min(all * stages, staged_segments)) + 1;
}

OperationId own_copy(Graph& graph, Position position, Range from, Range to, Dependencies after) {
  PLAIT_ASSERT(from.bytes == to.bytes, "a copy is as long as what it is a copy of");
  const bool is_there = from.slot == to.slot && from.offset == to.offset;
  const Index steps = is_there ? 0 : quotient_up(from.bytes, copy_step_bytes);
  const auto copy = [from, to](const schedule::Run& run, Index step) {
    const Index done = step * copy_step_bytes;
    const Index bytes = std::min(copy_step_bytes, from.bytes - done);
    const std::byte* const source = run.address(from.slot, from.offset + done);
    std::byte* const target = run.address(to.slot, to.offset + done);
    if (source == target) return;  // bound to the same memory
    std::memcpy(target, source, static_cast<std::size_t>(bytes));
    run.count_own_move(bytes);
  };
  return graph.compute(position, steps, copy, {from.slot, to.slot}, std::move(after));
}

Stream computed(Graph& graph, std::function<void(std::span<std::byte> elements, Index first)> f, const Stream& stream,
                Place data) {
  const auto shared = std::make_shared<const decltype(f)>(std::move(f));  // by all segments
  std::vector<Segment> results;
  for (const Segment& segment : stream.segments()) {
    const Range range = stream.range(data, segment);
    const auto work = [shared, range, first = segment.begin](const schedule::Run& run, Index) {
      (*shared)({run.address(range.slot, range.offset), static_cast<std::size_t>(range.bytes)}, first);
    };
    Segment& result = results.emplace_back(segment);
    result.final = {graph.compute(segment.position(), 1, work, {range.slot}, segment.final_and_read())};
    result.readers = {};
  }
  return {stream.element_bytes(), std::move(results)};
}

}  // namespace plait::collective
