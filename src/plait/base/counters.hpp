#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>

#include "plait/base/index.hpp"

namespace plait {

/// How far away the peer of a transfer is: this rank itself, another rank of its node, a rank of another node.
enum class PeerClass : unsigned char { self, node, network };

inline constexpr std::array<PeerClass, 3> peer_classes{PeerClass::self, PeerClass::node, PeerClass::network};
[[nodiscard]] constexpr std::string_view name(PeerClass peer) noexcept {
  constexpr std::array<std::string_view, 3> names{"self", "node", "network"};
  return names[static_cast<std::size_t>(peer)];
}

/// Exact counts of one kind of transfer. What a rank moves within its own memory counts as bytes without messages.
struct Traffic {
  Index messages = 0;
  Index bytes = 0;

  Traffic& operator+=(const Traffic& other) noexcept {
    messages += other.messages;
    bytes += other.bytes;
    return *this;
  }
  friend bool operator==(const Traffic&, const Traffic&) = default;
};

/// What one rank sends and receives, whoever the peer is. What is empty does not travel.
struct Exchanged {
  Traffic sent;
  Traffic received;

  void send(Index bytes) noexcept { sent += one(bytes); }
  void receive(Index bytes) noexcept { received += one(bytes); }
  Exchanged& operator+=(const Exchanged& other) noexcept {
    sent += other.sent;
    received += other.received;
    return *this;
  }
  friend bool operator==(const Exchanged&, const Exchanged&) = default;

 private:
  [[nodiscard]] static Traffic one(Index bytes) noexcept { return bytes > 0 ? Traffic{1, bytes} : Traffic{}; }
};

/// What one operation of this rank sent and received, by class of peer. Own moves appear on both sides.
struct TrafficCounters {
  std::array<Traffic, 3> sent{};
  std::array<Traffic, 3> received{};

  [[nodiscard]] Traffic& sent_to(PeerClass peer) noexcept { return sent[static_cast<std::size_t>(peer)]; }
  [[nodiscard]] Traffic& received_from(PeerClass peer) noexcept { return received[static_cast<std::size_t>(peer)]; }
  [[nodiscard]] const Traffic& sent_to(PeerClass peer) const noexcept { return sent[static_cast<std::size_t>(peer)]; }
  [[nodiscard]] const Traffic& received_from(PeerClass peer) const noexcept {
    return received[static_cast<std::size_t>(peer)];
  }
  friend bool operator==(const TrafficCounters&, const TrafficCounters&) = default;
};

/// The counters of all operations of a context, by the operation's name.
using Counters = std::map<std::string, TrafficCounters, std::less<>>;

}  // namespace plait
