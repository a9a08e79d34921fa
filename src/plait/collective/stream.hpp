#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/schedule/combine.hpp"
#include "plait/schedule/graph.hpp"

namespace plait::collective {

using schedule::Dependencies;
using schedule::Graph;
using schedule::OperationId;
using schedule::PoolId;
using schedule::Position;
using schedule::Range;
using schedule::SlotId;

/// Adds dependencies to others.
inline void append(Dependencies& all, const Dependencies& more) { all.insert(all.end(), more.begin(), more.end()); }
/// Those of them that are not there already.
void append_new(Dependencies& all, const Dependencies& more);

/// Where the elements of a vector lie: from `offset` bytes on in a slot, one behind the other.
struct Place {
  SlotId slot;
  Index offset = 0;
  friend bool operator==(const Place&, const Place&) = default;
};

/// What a reduction takes of each rank, what it gives, and how it combines two operands.
struct Reducing {
  Place in;
  Place out;
  const schedule::Combine& combine;
};

/// Consecutive elements of a vector that move as one.
struct Segment {
  Index begin, end;  ///< elements of the vector
  int strand;        ///< whose tag its messages have
  Index number;      ///< in its strand
  /// The first stage of `Position` at which it may move on. Alike on all ranks that deal with the segment, whether they
  /// have it by then or not.
  Index stage;
  Dependencies final{};    ///< this rank's operations after which its elements are final: may be read
  Dependencies readers{};  ///< and those that still read them then: it may be overwritten after these, too

  [[nodiscard]] Index elements() const noexcept { return end - begin; }
  [[nodiscard]] Dependencies final_and_read() const;
  /// `later` stages after the first one.
  [[nodiscard]] Position position(Index later = 0) const noexcept { return {stage + later, strand, number}; }
};

/// MPI guarantees 32,767 tags, and each strand takes one.
inline constexpr int most_strands = 1 << 14;
/// \throws ArgumentError  fewer than one, or more than `most_strands`
void expect_strands(Index strands);

/// A vector on its way through a graph of operations: cut into strands, these into segments, and for each segment since
/// when it is there. Builders take one and return what has become of it, so that a segment moves on while others are
/// still on their way: chained builders overlap by themselves.
///
/// A stage is about the time that one hop of one segment takes. The k-th segments of all strands set out at stage k.
///
/// Builders (`algorithm/`) append this rank's part of an operation among the ranks of a group: every rank of the group
/// appends its own, the others may. `root` is an index in the group. What a stream, or a rank's own block, is final
/// after counts where the operand is; elsewhere it tells from when on `out` may be overwritten. `in` and `out`, those
/// of `how` too, are the same place or do not overlap; `out` is looked at where a result comes to lie. Results are the
/// elements, or blocks, as they are final on each rank; operands are combined in the order of the group, unless
/// `combine` commutes.
/// \throws ArgumentError  `root` is none of the group; more or fewer blocks than ranks; elements of another size than
///                        `combine` has; `combine` sums up all operands at once
class Stream {
 public:
  Stream(Index element_bytes, std::vector<Segment> segments)
      : element_bytes_(element_bytes), segments_(std::move(segments)) {}

  /// Elements [begin, begin + elements): nearly equal strands, each in segments of `segment_elements`, but for its
  /// last. Strands that would be empty have no segments.
  /// \throws ArgumentError  elements < 0, element_bytes < 1, segment_elements < 1, or as `expect_strands` does
  static Stream cut(Index elements, Index element_bytes, int strands, Index segment_elements, Index begin = 0);

  [[nodiscard]] Index element_bytes() const noexcept { return element_bytes_; }
  [[nodiscard]] const std::vector<Segment>& segments() const noexcept { return segments_; }
  /// The length of the longest segment; 0 where there is none.
  [[nodiscard]] Index longest_bytes() const noexcept;
  /// Where a segment of the vector at `place` lies.
  [[nodiscard]] Range range(Place place, const Segment& segment) const noexcept {
    return {place.slot, place.offset + segment.begin * element_bytes_, segment.elements() * element_bytes_};
  }

  /// Appends an operation after which this rank's elements of a strand, or all of them, are final and no longer read.
  [[nodiscard]] OperationId final(Graph& graph, int strand) const;
  [[nodiscard]] OperationId final(Graph& graph) const;

 private:
  Index element_bytes_;
  std::vector<Segment> segments_;
};

/// The segment's elements in `parts` nearly equal pieces, some empty where it has fewer elements.
[[nodiscard]] std::vector<Segment> split(const Segment& segment, int parts);

/// \throws ArgumentError  `combine` takes elements of another size than the stream's, or all operands at once
void expect_pairwise(const Stream& stream, const schedule::Combine& combine);

/// How many blocks of staging memory a builder takes for what it receives, if there is so much of it: as many as an
/// executor's window has receives, so that all of these can be posted.
inline constexpr Index staged_segments = 16;

/// The most segments that set out within `stages` stages of each other.
[[nodiscard]] Index most_within(const Stream& stream, Index stages);

/// How many blocks a builder takes that holds one for each segment from a stage to the next one, and so on for `stages`
/// stages: at least one for each segment that is under way at a time, and one for what just comes.
[[nodiscard]] Index staged_blocks(const Stream& stream, Index stages);

/// to ← from within this rank's memory, counted as bytes that it moved by itself. Nothing where they are the same.
/// \pre  the ranges have the same length, and are the same or apart
[[nodiscard]] OperationId own_copy(Graph& graph, Position position, Range from, Range to, Dependencies after);

/// Calls f(elements, number of the first one) on this rank for each segment as soon as it is final and nobody reads it
/// any more, while others are on their way. Where nothing else can be done meanwhile, a long segment delays the others.
/// \return  the elements as `f` leaves them
[[nodiscard]] Stream computed(Graph& graph, std::function<void(std::span<std::byte> elements, Index first)> f,
                              const Stream& stream, Place data);

}  // namespace plait::collective
