#pragma once

#include <functional>

#include <gtest/gtest.h>

#include "mpi/collective/block_cases.hpp"
#include "mpi/collective/stream_cases.hpp"
#include "support/ranks.hpp"

namespace plait::test {

/// Every other run has windows that let one operation through at a time.
inline schedule::Windows windows_of(std::uint64_t seed) {
  return seed % 2 == 0 ? schedule::Windows{} : schedule::Windows{1, 1, 1};
}

/// A builder of broadcasts, and its formula for a segment of so many bytes.
struct BroadcastBuilder {
  std::function<collective::Stream(collective::Graph&, const collective::Group&, int root, const collective::Stream&,
                                   collective::Place data)>
      build;
  std::function<Exchanged(Index bytes, int ranks, int root, int me)> traffic;
};

/// A builder of reductions.
struct ReduceBuilder {
  std::function<collective::Stream(collective::Graph&, const collective::Group&, int root, const collective::Stream&,
                                   const collective::Reducing&)>
      build;
  std::function<Exchanged(Index bytes, int ranks, int root, int me, bool commutes)> traffic;
};

inline collective::Stream stream_of(const StreamCase& c) {
  return collective::Stream::cut(c.n, Index{sizeof(std::uint64_t)}, c.strands, c.segment);
}

/// The sum of what a formula says of each segment of a case, of its bytes.
inline Exchanged summed(const StreamCase& c, const std::function<Exchanged(Index)>& formula) {
  Exchanged all;
  const collective::Stream stream = stream_of(c);
  for (const collective::Segment& segment : stream.segments()) all += formula(segment.elements() * 8);
  return all;
}

/// Expects all cases to bring the root's words to all ranks of the group, with as many messages as the formula says.
inline void expect_broadcasts(mpi::Context& context, const BroadcastBuilder& builder) {
  std::uint64_t seed = 0;
  for (const StreamCase& c : stream_cases(ranks())) {
    SCOPED_TRACE(testing::Message() << c);
    ++seed;
    const collective::Group group(context, c.ranks);
    const int source = group.rank(c.root);
    Words data = rank() == source ? operands(seed, source, c.n) : Words(static_cast<std::size_t>(c.n), untouched);
    Words none;
    StreamCase in_place = c;
    in_place.in_place = true;
    context.counters().clear();
    StreamedRun::run(
        context, in_place,
        [&](auto& graph, const auto& members, const auto& stream, auto, auto out) {
          static_cast<void>(builder.build(graph, members, c.root, stream, out));
        },
        none, data, windows_of(seed));
    ASSERT_EQ(data, group.contains_me() ? operands(seed, source, c.n) : Words(data.size(), untouched));
    const auto formula = [&](Index bytes) { return builder.traffic(bytes, group.size(), c.root, group.me()); };
    ASSERT_EQ(exchanged(context, "streamed"), group.contains_me() ? summed(c, formula) : Exchanged{});
  }
}

/// Expects all cases to bring to the root what the ranks' words combine to, in the order of the group, and no other
/// memory to change, with as many messages as the formula says.
inline void expect_reductions(mpi::Context& context, const ReduceBuilder& builder) {
  using schedule::Combine;
  std::uint64_t seed = 1000;
  const Compose compose;
  const Combine kinds[] = {Combine::elementwise<std::uint64_t>(compose),
                           {simd::ReduceOperation::sum, simd::Element::uint64}};
  for (const StreamCase& c : stream_cases(ranks())) {
    SCOPED_TRACE(testing::Message() << c);
    ++seed;
    const Combine& combine = kinds[random_bits(seed, 0) % 2];
    const collective::Group group(context, c.ranks);
    Words in = operands(seed, rank(), c.n);
    Words out = c.in_place ? in : Words(in.size(), untouched);
    context.counters().clear();
    StreamedRun::run(
        context, c,
        [&](auto& graph, const auto& members, const auto& stream, auto from, auto to) {
          static_cast<void>(builder.build(graph, members, c.root, stream, {from, to, combine}));
        },
        in, out, windows_of(seed));
    const auto f = [&](std::uint64_t a, std::uint64_t b) { return combine.commutes() ? a + b : compose(a, b); };
    if (rank() == group.rank(c.root)) {
      ASSERT_EQ(out, combined(seed, c.ranks, 0, c.n, f));
    } else {
      ASSERT_EQ(out, c.in_place ? operands(seed, rank(), c.n) : Words(out.size(), untouched));
    }
    const auto formula = [&](Index bytes) {
      return builder.traffic(bytes, group.size(), c.root, group.me(), combine.commutes());
    };
    ASSERT_EQ(exchanged(context, "streamed"), group.contains_me() ? summed(c, formula) : Exchanged{});
  }
}

}  // namespace plait::test
