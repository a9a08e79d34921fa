#pragma once

#include "plait/base/counters.hpp"
#include "plait/base/index.hpp"

namespace plait::collective {

/// What one rank sends and receives in a collective: messages and their bytes, whoever the peer is, exactly.
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
  // What is empty does not travel.
  [[nodiscard]] static Traffic one(Index bytes) noexcept { return bytes > 0 ? Traffic{1, bytes} : Traffic{}; }
};

}  // namespace plait::collective
