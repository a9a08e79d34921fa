#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "plait/base/index.hpp"
#include "plait/model/machine.hpp"
#include "plait/mpi/context.hpp"

#include "bench/overlap/overlapped_operation.hpp"

namespace plait::bench {

/// A collective operation on doubles among all ranks, and how it is done.
struct SimulatedCollective {
  Operation operation;
  /// One of the model's names; `chosen`: what a pipeline takes, by the description of the machine that the context has;
  /// `library`: the MPI library's own, blocking. A reduction that is followed by a broadcast names the algorithm of the
  /// reduction, and the broadcast's is the one like it.
  std::string algorithm;
  Index elements;
  std::optional<int> strands;          // empty: chosen
  std::optional<Index> message_bytes;  // at most, likewise
  int sends;                           // that a rank has under way at once
  bool sums;                           // or else operands are not even looked at: combining takes no simulated time
};

/// What the network is told to be: messages of `bytes` take latency_seconds + bytes / bytes_per_second, share a link
/// evenly, and as many as `sends` are under way from rank to rank. Nothing but messages takes time.
[[nodiscard]] model::Machine simulated_machine(double bytes_per_second, double latency_seconds, int sends);

/// Sets it up; what is returned does it once. Collective, both.
/// \throws ArgumentError  there is no such algorithm
[[nodiscard]] std::function<void()> prepare(mpi::Context& context, const SimulatedCollective& collective,
                                            std::span<std::byte> data);

/// Each rank's operand, and how many elements of this rank's result are wrong.
void write_operand(const SimulatedCollective& collective, int rank, std::span<std::byte> data);
[[nodiscard]] Index wrong_elements(const SimulatedCollective& collective, int ranks, int rank,
                                   std::span<const std::byte> data);

}  // namespace plait::bench
