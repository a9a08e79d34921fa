#pragma once

#include <optional>
#include <span>
#include <vector>

#include "plait/layout/volumes.hpp"
#include "plait/redistribute/relabel/package_cost.hpp"
#include "plait/redistribute/relabel/sized_pair.hpp"

namespace plait::redistribute {

/// What each rank gets in a batch, from whom: the communication graph G = (P, E, S) of the paper, a column at a time.
/// Pure arithmetic, the same on every rank; for a part of a matrix in the time that its packages take.
///
/// \throws ShapeMismatch  naming the pair whose shapes do not fit
/// \throws ArgumentError  element_bytes < 1, or more than 2^62 bytes
class Incoming {
 public:
  /// \param with_tiles  whether packages list their tiles; takes time with each of them
  Incoming(std::span<const SizedPair> pairs, bool with_tiles = false);
  Incoming(const Incoming&) = delete;
  Incoming& operator=(const Incoming&) = delete;

  struct Sender {
    int rank = 0;
    PackageContent package;
  };
  /// Who sends to `rank`, itself included, by rank. True until the next call.
  [[nodiscard]] std::span<const Sender> of(int rank);

  [[nodiscard]] std::span<const SizedPair> pairs() const noexcept { return pairs_; }
  /// One more than the highest rank that holds anything.
  [[nodiscard]] int ranks() const noexcept { return ranks_; }

 private:
  [[nodiscard]] std::vector<layout::Share> received_by(int rank, std::size_t pair);
  void add_tiles(int rank);

  std::vector<SizedPair> pairs_;
  std::vector<layout::Layout> op_from_;
  std::vector<std::optional<layout::Volumes>> volumes_;  // counted when they are first asked for
  bool with_tiles_;
  int ranks_ = 0;
  std::vector<Sender> senders_;
  std::vector<PackageTile> tiles_;
};

}  // namespace plait::redistribute
