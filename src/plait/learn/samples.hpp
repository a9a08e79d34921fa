#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/random.hpp"
#include "plait/base/vector.hpp"
#include "plait/mpi/context.hpp"
#include "plait/simd/exact/exact_sum.hpp"
#include "plait/simd/row_block.hpp"

namespace plait::learn {

/// Rows of floats or doubles, which are taken as doubles.
class Rows {
 public:
  Rows() = default;
  template <std::floating_point T>
  Rows(const T* data, Index count, Index columns, Index leading_dimension)
      : Rows(reinterpret_cast<const std::byte*>(data), count, columns, leading_dimension, Index{sizeof(T)}) {}
  template <std::floating_point T>
  Rows(simd::RowBlock<const T> rows) : Rows(rows.data, rows.rows, rows.columns, rows.leading_dimension) {}
  /// Rows as others have them, one after the other.
  Rows(const std::byte* data, Index count, const Rows& others)
      : Rows(data, count, others.columns_, others.columns_, others.element_bytes_) {}

  [[nodiscard]] Index count() const noexcept { return count_; }
  [[nodiscard]] Index columns() const noexcept { return columns_; }
  [[nodiscard]] Index element_bytes() const noexcept { return element_bytes_; }
  /// The numbers of a row.
  void take(Index row, double* to) const;
  [[nodiscard]] std::span<const std::byte> bytes(Index row) const {
    return {data_ + row * leading_dimension_ * element_bytes_, at(columns_ * element_bytes_)};
  }

 private:
  Rows(const std::byte* data, Index count, Index columns, Index leading_dimension, Index element_bytes)
      : data_(data),
        count_(count),
        columns_(columns),
        leading_dimension_(leading_dimension),
        element_bytes_(element_bytes) {}

  const std::byte* data_ = nullptr;
  Index count_ = 0, columns_ = 0, leading_dimension_ = 0, element_bytes_ = Index{sizeof(double)};
};

/// What is made of z = W x + b of a sample x: the number z, or a class.
enum class Model : unsigned char {
  linear,    ///< z itself; loss ½ (z - y)²
  logistic,  ///< log-odds of classes; loss -log of the probability of the right one
  svm,       ///< sides of hyperplanes, of each class against the rest; loss Σ max(0, 1 ∓ z)², the squared hinge
};

/// Some of the samples are held out: no model is made of them, but looked at with them. Which ones depends on the
/// number of a sample and the seed alone.
struct HeldOut {
  double share = 0;
  std::uint64_t seed = 0;

  [[nodiscard]] bool has(Index sample) const noexcept {
    return random_uniform(~seed, static_cast<std::uint64_t>(sample)) < share;
  }
};

/// Samples with what they are to be taken for: the rows of a matrix, of which each rank has some, those of rank 0
/// first, and a target each.
///
/// The targets of classes are whole numbers, as many different ones as there are classes. Two classes need one output
/// z, which is positive for the second one; more need one each.
class Samples {
 public:
  /// \param own      of this rank; they outlive this
  /// \param targets  of these
  /// \throws ArgumentError  on all ranks, naming the first row and column that is wrong: no samples, all of them held
  ///                        out, numbers that are not finite or beyond 2^200, classes that are no whole numbers, less
  ///                        than 2, more than 1000, or only held out
  Samples(mpi::Context& context, const Rows& own, std::span<const double> targets, Model model, HeldOut held_out = {});

  [[nodiscard]] mpi::Context& context() const noexcept { return context_; }
  [[nodiscard]] const Rows& own() const noexcept { return own_; }
  [[nodiscard]] Model model() const noexcept { return model_; }
  [[nodiscard]] const HeldOut& held_out() const noexcept { return held_out_; }
  [[nodiscard]] Index first() const noexcept { return first_; }        ///< this rank's first, in all
  [[nodiscard]] Index count() const noexcept { return count_; }        ///< on all ranks
  [[nodiscard]] Index training() const noexcept { return training_; }  ///< those that are not held out
  [[nodiscard]] Index dimension() const noexcept { return own_.columns(); }
  /// What the classes are called, ascending; none of a linear model.
  [[nodiscard]] const std::vector<double>& classes() const noexcept { return classes_; }
  [[nodiscard]] Index outputs() const noexcept { return classes_.size() < 3 ? 1 : static_cast<Index>(classes_.size()); }
  /// Of a rank's sample: its number, or the place of its class.
  [[nodiscard]] double target(Index i) const { return targets_[i]; }
  [[nodiscard]] Index label(Index i) const { return static_cast<Index>(targets_[i]); }

  /// Of each column, and of the targets last, of those to learn from: the mean, and the standard deviation, which is 0
  /// where that is all rounding of the mean.
  [[nodiscard]] const std::vector<double>& means() const noexcept { return means_; }
  [[nodiscard]] const std::vector<double>& deviations() const noexcept { return deviations_; }
  /// How far any is from a number between the least and the largest one, or from 0, at most.
  [[nodiscard]] double reach(Index column, double from) const {
    return std::max(std::abs(highest_[at(column)] - from), std::abs(lowest_[at(column)] - from));
  }

  /// As many as are worked on together.
  [[nodiscard]] Index rows_at_once() const noexcept {
    constexpr Index most_numbers = Index{1} << 16;
    return std::clamp(most_numbers / dimension(), Index{1}, Index{64});
  }
  /// Calls f with the numbers of some of this rank's samples at a time: those that are held out, or the others.
  template <class F>
  void for_each_block(bool held_out, F&& f) const {
    Vector<Index> block;
    for (Index i = 0; i < own_.count(); ++i) {
      if (held_out_.share > 0 ? held_out_.has(first_ + i) == held_out : !held_out) block.push_back(i);
      if (block.count() == rows_at_once() || (i + 1 == own_.count() && !block.empty())) {
        f(std::span<const Index>(block));
        block.clear();
      }
    }
  }
  /// The numbers of all of this rank's to learn from.
  [[nodiscard]] Vector<Index> own_training() const {
    Vector<Index> own;
    for_each_block(false, [&](std::span<const Index> rows) { own.insert(own.end(), rows.begin(), rows.end()); });
    return own;
  }

 private:
  void look_at_numbers();
  void find_classes();
  void sum_up();

  mpi::Context& context_;
  Rows own_;
  Vector<double> targets_;
  Model model_;
  HeldOut held_out_;
  Index first_ = 0, count_ = 0, training_ = 0;
  std::vector<double> classes_;
  std::vector<double> lowest_, highest_, means_, deviations_;
};

/// Samples that came from other ranks: the bytes of rows one after the other, targets as `Samples::target` has them,
/// and a number that each was sent with.
struct Dealt {
  std::vector<std::byte> rows;
  std::vector<double> targets;
  std::vector<Index> numbers;
};

/// Sends some of this rank's samples to ranks. They come in the order of the ranks that had them, and as these name
/// them. Collective.
/// \throws OutOfMemory  on all ranks, where one has too little
[[nodiscard]] Dealt deal(const Samples& samples, std::span<const Index> which, std::span<const Index> ranks,
                         std::span<const Index> numbers);

/// How right what a model says is: the share of samples of which the class is right, or
/// R² = 1 - Σ (z - y)² / Σ (y - mean)². By exact sums, the same on any number of ranks.
class Score {
 public:
  /// \param middle  what numbers are near: sums are of differences from it
  explicit Score(Model model, double middle = 0) : model_(model), middle_(middle) {}

  void add(double said, double target);
  /// Of the samples of all ranks, NaN of none; afterwards `count` is of all. Collective.
  [[nodiscard]] double of_all(mpi::Context& context);
  [[nodiscard]] Index count() const noexcept { return count_; }

 private:
  Model model_;
  double middle_;
  std::array<simd::ExactSum, 3> sums_;  // Σ (z - y)² or how many are right, Σ y, Σ y²
  Index count_ = 0;
};

/// The scores of a model on the samples that it learnt from, and on those held out; NaN of none.
struct Quality {
  double training = 0, held_out = 0;
  Index samples_held_out = 0;
};

/// \param predict  what the model says of some of this rank's samples: numbers, or labels of classes
/// Collective over the samples' context; by exact sums.
[[nodiscard]] Quality quality_of(
    const Samples& samples, const std::function<void(std::span<const Index> rows, std::vector<double>& said)>& predict);

}  // namespace plait::learn
