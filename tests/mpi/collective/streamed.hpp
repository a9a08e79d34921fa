#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plait/collective/group.hpp"
#include "plait/collective/stream.hpp"
#include "plait/mpi/context.hpp"
#include "plait/schedule/combine.hpp"
#include "plait/schedule/schedule.hpp"

#include "mpi/collective/operands.hpp"

namespace plait::test {

/// In memory that a test expects to find as it was.
inline constexpr std::uint64_t untouched = 0x5555;

/// Composition of the maps x → a x + b, both 32 bits of a word: associative, and not commutative, so that a result
/// tells the order of the operands, however they were bracketed.
struct Compose {
  std::uint64_t operator()(std::uint64_t f, std::uint64_t g) const noexcept {
    const auto a = [](std::uint64_t map) { return static_cast<std::uint32_t>(map >> 32U); };
    const auto b = [](std::uint64_t map) { return static_cast<std::uint32_t>(map); };
    return std::uint64_t{a(f) * a(g)} << 32U | std::uint64_t{a(f) * b(g) + b(f)};
  }
};

/// The operands of a group's ranks, one after the other combined by `combine`: elements [begin, end).
inline Words combined(std::uint64_t seed, const std::vector<int>& ranks, Index begin, Index end,
                      const std::function<std::uint64_t(std::uint64_t, std::uint64_t)>& combine) {
  Words words;
  for (Index i = begin; i < end; ++i) {
    std::uint64_t word = operand(seed, ranks[0], i);
    for (std::size_t k = 1; k < ranks.size(); ++k) word = combine(word, operand(seed, ranks[k], i));
    words.push_back(word);
  }
  return words;
}

/// What this rank has sent to and received from others in what is labelled so, since the counters were cleared.
inline Exchanged exchanged(const mpi::Context& context, const std::string& label) {
  Exchanged all;
  const auto found = context.counters().find(label);
  if (found == context.counters().end()) return all;
  for (const PeerClass peer : {PeerClass::node, PeerClass::network}) {
    all.sent += found->second.sent_to(peer);
    all.received += found->second.received_from(peer);
  }
  return all;
}

/// What a builder is to be given in a test.
struct StreamCase {
  std::vector<int> ranks;
  int root;
  Index n;
  int strands;
  Index segment;
  bool in_place;

  friend std::ostream& operator<<(std::ostream& out, const StreamCase& c) {
    return out << c.ranks.size() << " ranks from " << c.ranks[0] << ", root " << c.root << ", " << c.n << " elements, "
               << c.strands << " strands, segments of " << c.segment << (c.in_place ? ", in place" : "");
  }
};

/// A graph of one or more builders on two vectors of words, `in` (n of them) and `out` (as many as the test likes; with
/// a case that is in place, these are one), run once. `build` appends to it.
struct StreamedRun {
  using Build = std::function<void(schedule::Graph&, const collective::Group&, const collective::Stream&,
                                   collective::Place in, collective::Place out)>;

  /// Collective over the context. `in` becomes `out` in place. Expects what was sent to be what the graph says.
  static void run(mpi::Context& context, const StreamCase& c, const Build& build, Words& in, Words& out,
                  schedule::Windows windows = {}) {
    const collective::Group group(context, c.ranks);
    schedule::Graph graph(c.strands);
    const auto stream = collective::Stream::cut(c.n, Index{sizeof(std::uint64_t)}, c.strands, c.segment);
    const auto bytes = [](const Words& words) { return static_cast<Index>(words.size() * sizeof(std::uint64_t)); };
    const collective::SlotId to = graph.output(bytes(out));
    const collective::SlotId from = c.in_place ? to : graph.input(bytes(in));
    build(graph, group, stream, {from}, {to});
    std::vector<schedule::Binding> bindings{schedule::Binding::output(std::as_writable_bytes(std::span(out)))};
    if (!c.in_place) bindings.push_back(schedule::Binding::input(std::as_bytes(std::span(in))));
    Exchanged expected = exchanged(context, "streamed");
    expected += schedule::traffic_of(graph);
    schedule::Schedule schedule(context, std::move(graph), "streamed", windows);
    schedule.start(bindings);
    schedule.wait();
    EXPECT_EQ(exchanged(context, "streamed"), expected);
  }
};

}  // namespace plait::test

namespace plait {
inline void PrintTo(const Exchanged& all, std::ostream* out) {
  *out << "sent " << all.sent.messages << " messages, " << all.sent.bytes << " bytes, received "
       << all.received.messages << " messages, " << all.received.bytes << " bytes";
}
}  // namespace plait
