#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "plait/iterate/solver.hpp"

namespace plait::iterate {

/// The sum of a[i] b[i], in the order of i.
[[nodiscard]] double dot(std::span<const double> a, std::span<const double> b) noexcept;

/// to ← to + factor · from
void add(double factor, std::span<const double> from, std::span<double> to) noexcept;

/// What the last few steps changed of a gradient, and the inverse H of the curvature that follows: limited-memory BFGS.
/// All memory is taken at the beginning. Nothing is collective; the same on all ranks where vectors are.
///
/// Source: Nocedal, "Updating quasi-Newton matrices with limited storage", Math. Comp. 35 (1980).
class CurvaturePairs {
 public:
  struct Pair {
    std::vector<double> step, change;  // of the variables, and of the gradient
    double curvature = 0;              // their product, above 0
  };

  CurvaturePairs(std::size_t most, std::size_t length);

  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  [[nodiscard]] const Pair& newest() const { return pairs_[count_ - 1]; }
  void clear() noexcept { count_ = 0; }

  /// Where the next pair is to be written; where there are as many as can be, the oldest is forgotten for it.
  [[nodiscard]] Pair& next();
  /// Takes it among the pairs. \pre  its curvature is above 0
  void keep() noexcept { ++count_; }

  /// vector ← H vector, where `first(vector)` is H without any pair.
  template <class First>
  void apply(std::span<double> vector, const First& first) {
    for (std::size_t k = count_; k-- > 0;) {
      along_[k] = dot(pairs_[k].step, vector) / pairs_[k].curvature;
      add(-along_[k], pairs_[k].change, vector);
    }
    first(vector);
    for (std::size_t k = 0; k < count_; ++k) {
      add(along_[k] - dot(pairs_[k].change, vector) / pairs_[k].curvature, pairs_[k].step, vector);
    }
  }

  /// As "pairs" of what is shared.
  void save(Checkpoint& checkpoint) const;
  /// \throws ArgumentError  they are of vectors of another length, or too many
  void resume(const Checkpoint& checkpoint);

 private:
  std::size_t length_;
  std::size_t count_ = 0;
  std::vector<Pair> pairs_;    // the oldest first, then memory of others
  std::vector<double> along_;  // of each, while H is applied
};

}  // namespace plait::iterate
