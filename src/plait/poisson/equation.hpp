#pragma once

#include <array>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "plait/layout/box.hpp"
#include "plait/mpi/context.hpp"
#include "plait/poisson/axis.hpp"
#include "plait/poisson/level.hpp"
#include "plait/poisson/parts.hpp"
#include "plait/poisson/problem.hpp"

namespace plait::poisson {

/// What flows in through the sides, and what is made within: together 0.
struct Balance {
  double source = 0;                                         ///< ∫ f
  double size = 0;                                           ///< ∫ |f|, and the size of the flow through each face
  std::array<std::array<double, 2>, layout::axes> inflow{};  ///< ∫ k ∂u/∂n over the side of an axis below, above
  double from_outside = 0;                                   ///< likewise, from points outside the domain
};

/// A u = b on the finest grid: b is f with what is given on sides and at points outside, where u is 0 here. Everything
/// is collective over the context, which outlives this.
class Equation {
 public:
  /// \param partition  of the level
  /// \param width      of the level's ghost layers
  /// \param project    where u is given nowhere: subtract the mean of f
  /// \throws ArgumentError  on all ranks: k is missing on one, what is given on a side is not finite, f of another mean
  ///                        than 0 where it has to be, or so large or small that its squares leave the range of numbers
  Equation(mpi::Context& context, const Given& given, const layout::BoxPartition& partition, Index width, bool project);

  [[nodiscard]] Level& level() noexcept { return level_; }
  [[nodiscard]] const Level& level() const noexcept { return level_; }
  /// b, and its ghosts where they are wider than a layer.
  [[nodiscard]] const Values& right_side() const noexcept { return b_; }
  /// Its largest size.
  [[nodiscard]] double largest() const noexcept { return largest_; }
  /// The least and the largest k.
  [[nodiscard]] const std::array<double, 2>& extremes() const noexcept { return extremes_; }
  /// k, where it is the same everywhere and no point is outside.
  [[nodiscard]] std::optional<double> constant() const noexcept {
    return extremes_[0] == extremes_[1] && !level_.has_outside() ? std::optional(extremes_[0]) : std::nullopt;
  }
  /// Connected parts of the domain.
  [[nodiscard]] Index parts() const noexcept { return parts_->count(); }
  /// Whether constants change nothing on one of them.
  [[nodiscard]] bool has_free_parts() const noexcept { return !parts_->free().empty(); }
  /// The mean of f, with what flows in, that b is without, the largest one of the parts; empty where u is given on all.
  [[nodiscard]] const std::optional<double>& subtracted() const noexcept { return subtracted_; }

  [[nodiscard]] bool starts_at_zero() const noexcept { return starts_at_zero_; }
  /// u at the start, once.
  [[nodiscard]] Values take_start() { return std::move(start_); }
  /// u of this rank's points, as they are given: of mean 0 on parts where it is given nowhere.
  [[nodiscard]] std::vector<double> solution(const Values& u);

  /// Subtracts the mean of values of this rank's points on each part with a free constant, and returns the largest one.
  double remove_means(std::span<double> values) { return remove_means(values, false); }
  /// The sums of squares of b - A u and of b, and of both as the level weighs them; fills ghost layers of u.
  [[nodiscard]] std::array<double, 4> squares(Values& u);
  [[nodiscard]] Balance balance(const Values& u);

 private:
  [[nodiscard]] Values on_level(std::span<const double> given);
  void set_coefficient(const Coefficient& k, const Outside& outside);
  void set_faces(const Coefficient& k, Values inside, bool is_given);
  void set_right_side(std::span<const double> f);
  void expect_range();
  template <class F>
  void for_each_given_face(const F& f);
  double remove_means(std::span<double> values, bool is_expected);

  mpi::Context& context_;
  layout::BoxPartition given_;
  Boundary boundary_;
  bool project_, starts_at_zero_;
  Level level_;
  std::optional<Parts> parts_;
  Values b_, start_;
  Values kept_;  // u at the points outside, where there are any
  double largest_ = 0;
  std::array<double, 2> extremes_{1, 1};
  std::optional<double> subtracted_;
};

}  // namespace plait::poisson
