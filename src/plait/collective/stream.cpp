#include "plait/collective/stream.hpp"

#include <algorithm>
#include <string>

#include "plait/base/error.hpp"

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

}  // namespace plait::collective
