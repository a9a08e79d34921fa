#pragma once

#include <string>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/model/bandwidth_curve.hpp"

namespace plait::model {

/// Streams of messages of as many ranks of a node at once. All rates are of these ranks together.
struct Streams {
  int ranks = 1;
  BandwidthCurve one_way;    // each sends to another rank, or receives from one
  BandwidthCurve both_ways;  // each does both at once; the rate of what is sent
  friend bool operator==(const Streams&, const Streams&) = default;
};

/// A class of links: those within a node, or those between nodes.
struct Link {
  bool measured = false;         // or else assumed
  double latency_seconds;        // alpha: of a message without data, one way
  std::vector<Streams> streams;  // by the number of ranks, which ascends from 1

  /// The streams of the most ranks that are no more than these.
  /// \pre  ranks >= 1
  [[nodiscard]] const Streams& streams_of(int ranks) const;

  friend bool operator==(const Link&, const Link&) = default;
};

/// What the machine can do: the constants of all cost formulas. The same on all ranks that decide by them.
struct Machine {
  std::string description;  // for people: where and how it was measured
  int ranks_per_node;       // on which the rates below were measured
  int cores_per_node;
  int numa_nodes;                   // of a node
  double combine_bytes_per_second;  // 1/gamma: of a vector to which a rank adds another, while all of its node do
  double read_bytes_per_second;     // from memory, by all ranks of a node together
  double copy_bytes_per_second;     // likewise; what is read counts, not what is written
  double product_flops_per_second;  // of products of matrices of doubles, by all ranks of a node together
  Link node;                        // between ranks of a node
  Link network;                     // between ranks of different nodes
  friend bool operator==(const Machine&, const Machine&) = default;
};

/// What is assumed of a machine that was not measured: nodes of 8 cores with links of 10 Gb/s, reached over TCP. Links
/// that are busy both ways carry less in long messages, whose senders wait for answers that stand behind data.
/// \param unasked_bytes  the longest message that is sent without such an answer, which has the highest rate
/// \pre  unasked_bytes >= 1
[[nodiscard]] Machine default_machine(Index unasked_bytes = 16'000);

/// \throws ArgumentError  naming the member, its value and what was expected: a number that is not positive and finite,
///                        streams that do not begin with those of one rank, or whose numbers of ranks do not ascend
void expect_valid(const Machine& machine);

}  // namespace plait::model
