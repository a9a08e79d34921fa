#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/mpi/context.hpp"
#include "plait/schedule/schedule.hpp"
#include "plait/simd/exact/exact_sum.hpp"

namespace plait::krylov {

/// How inner products are added up: in any order, or so that they have the same bits for any number of ranks and any
/// way in which vectors are shared out, which takes several times as long.
enum class Sums : unsigned char { fast, reproducible };

/// Up to `most` inner products of vectors of which each rank has a part, in one all-reduce that can be under way while
/// something else is done. Products of floats are exact, those of doubles rounded.
class Dots {
 public:
  static constexpr std::size_t most = 3;

  /// Collective over the context, which outlives this.
  /// \throws OutOfMemory  on all ranks, where one has too little
  Dots(mpi::Context& context, Sums sums);

  /// Adds this rank's part of a · b to the i-th product of those to come.
  /// \pre  not under way
  template <class T>
  void add(std::size_t i, std::span<const T> a, std::span<const T> b);

  /// Collective.
  void begin();
  /// True when it is over on this rank; never waits.
  bool progress() { return schedule_.progress(); }
  void finish();

  /// Of those that were finished last; the same bits on all ranks.
  [[nodiscard]] double operator[](std::size_t i) const { return results_[i]; }

  /// One of them, begun and finished.
  template <class T>
  [[nodiscard]] double dot(std::span<const T> a, std::span<const T> b) {
    add(0, a, b);
    begin();
    finish();
    return results_[0];
  }

 private:
  Sums sums_;
  std::array<double, most> results_{};
  std::array<double, most> fast_{};
  std::array<simd::ExactSum, most> exact_{};
  std::vector<std::int64_t> words_;
  schedule::Schedule schedule_;
};

}  // namespace plait::krylov
