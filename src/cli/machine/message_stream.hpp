#pragma once

#include <optional>

#include "plait/base/index.hpp"
#include "plait/base/memory.hpp"
#include "plait/mpi/context.hpp"

namespace plait::cli {

/// Where this rank sends messages to and gets them from in a measurement; nowhere, if it only waits for the others.
struct Peers {
  std::optional<int> to = {};
  std::optional<int> from = {};
};

/// Times messages of this rank among those of others, which all begin together.
class MessageStream {
 public:
  /// For messages of at most `most_bytes` bytes.
  MessageStream(mpi::Context& context, Index most_bytes);

  /// Until the last of `messages` messages of `bytes` bytes has reached the last rank that gets any: in seconds, the
  /// same on every rank. Several are under way at once. Collective; peers fit each other.
  [[nodiscard]] double seconds(Peers peers, Index bytes, int messages);

  /// One way of an empty message between a rank and its peer, in the mean over `round_trips`: in seconds, of the
  /// slowest pair, the same on every rank. Collective.
  /// \param peer    the other rank of a pair, if this one is in one
  /// \param begins  whether this rank of the pair sends first
  [[nodiscard]] double latency_seconds(std::optional<int> peer, bool begins, int round_trips);

 private:
  mpi::Context& context_;
  mpi::Tags tag_;
  Array<std::byte> sent_;
  Array<std::byte> received_;  // of all messages under way
};

}  // namespace plait::cli
