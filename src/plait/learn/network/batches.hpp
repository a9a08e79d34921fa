#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/vector.hpp"
#include "plait/learn/samples.hpp"

namespace plait::learn {

/// An order of the numbers from 0 to count - 1, which depends on the seed only: each place is computed by itself, so
/// that no rank has all of it.
///
/// Source: Luby, Rackoff, "How to construct pseudorandom permutations from pseudorandom functions", SIAM J. Comput. 17
/// (1988), of the next power of 4, until a number is one of those.
class Shuffle {
 public:
  Shuffle(Index count, std::uint64_t seed) noexcept;

  [[nodiscard]] Index place_of(Index number) const noexcept;

 private:
  [[nodiscard]] std::uint64_t half(std::uint64_t round, std::uint64_t other) const noexcept;

  std::uint64_t count_, seed_;
  int bits_ = 1;  // of half a number
};

/// The samples to learn from, shuffled for each epoch and cut into batches, of which each rank has its part: the
/// same batches on any number of ranks.
///
/// Rank r of P has grains [G r/P, G (r + 1)/P) of the G grains of a batch, so many samples each but the last one. Each
/// epoch moves all samples once, from the ranks that have them to those that learn from them.
class Batches {
 public:
  /// Collective over the samples' context.
  /// \param samples  outlive this
  /// \throws OutOfMemory  on all ranks, where one has too little
  Batches(const Samples& samples, Index batch, Index grain, std::uint64_t seed);

  /// Batches of an epoch.
  [[nodiscard]] Index count() const noexcept;
  /// Samples of a batch on all ranks: as many as were asked for, or what is left for the last one.
  [[nodiscard]] Index samples_of(Index batch) const noexcept;
  /// Where the parts of ranks end in it, from 0 on.
  [[nodiscard]] std::vector<Index> splits(Index batch) const;
  /// The most that this rank has of one.
  [[nodiscard]] Index most_samples() const noexcept { return most_samples_; }

  /// Takes the samples of an epoch. Collective.
  void begin(Index epoch);

  struct Part {
    Rows rows;
    std::span<const double> targets;  ///< as `Samples::target` has them
  };
  /// This rank's of a batch of the epoch.
  [[nodiscard]] Part part(Index batch) const;

  [[nodiscard]] static Index bytes(const Samples& samples, Index batch) noexcept;

 private:
  /// Where the part of a rank ends within a batch; 0 for rank -1.
  [[nodiscard]] Index own_end(Index batch, int rank) const noexcept;
  [[nodiscard]] int rank_of(Index place) const noexcept;

  const Samples& samples_;
  mpi::Context& context_;
  Index batch_, grain_, most_samples_ = 0;
  std::uint64_t seed_;
  Vector<Index> rows_;     // of this rank, to learn from
  Index first_ = 0;        // the number of the first one, of all
  Vector<Index> ends_;     // of this rank's parts of batches, among what it has
  Vector<std::byte> own_;  // bytes of rows
  Vector<double> targets_;
};

}  // namespace plait::learn
