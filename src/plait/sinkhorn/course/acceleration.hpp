#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <variant>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/iterate/curvature_pairs.hpp"
#include "plait/sinkhorn/course/iterations.hpp"

namespace plait::sinkhorn {

/// Limited-memory quasi-Newton steps for iterations x ← T x, x the logarithms of factors of columns.
///
/// With rows that have their sums, x maximises the concave dual h, of which the slope is (what columns are to sum up
/// to)
/// - (what they do), and T x - x = d is that slope over the weights, nearly: a preconditioned ascent. L-BFGS makes of
/// the last few moves s and of what these changed d by,
///
///     q = H d,   H the inverse of the curvature, as far as pairs (s, y = weights · (d before - d)) tell, else 1
///
/// and x + q takes the place of x + d. All vectors are the same on all ranks, so that there are no more messages.
///
/// **Safeguards**: q is no longer than a multiple of d, which doubles when it proves too short and is a quarter when a
/// step fails: where masses move at a constant pace there is no curvature, and the step grows by trial. A step fails if
/// h has not risen. Its slopes along the step at both ends tell, whose mean is the rise but for terms of third order;
/// the one at the end is a bound below. Then x + d, which always rises, takes its place, pairs are forgotten, and for
/// twice as long as after the failure before iterations are plain. So are fast ones, and those of which errors have to
/// fall lest they be taken for rounding.
///
/// Sources: Nocedal, "Updating quasi-Newton matrices with limited storage", 1980; Cuturi, Peyré, "A smoothed dual
/// approach for variational Wasserstein problems", 2016.
class QuasiNewton {
 public:
  /// \param rounding  errors below it tell by not falling that only rounding is left
  QuasiNewton(const Iterate& iterate, double rounding)
      : rounding_(rounding), pairs_(most_pairs, iterate.weights.size()) {
    for (std::vector<double>* each : {&now_, &slopes_, &change_, &move_, &kept_}) each->resize(iterate.weights.size());
  }

  /// Whether the iterate may be worse than the one before.
  [[nodiscard]] bool is_under_way() const noexcept { return is_under_way_; }
  /// Where slopes at the iterate belong, for `has_risen`.
  [[nodiscard]] std::span<double> slopes() noexcept { return slopes_; }
  /// Whether the step that led to the iterate is to be kept; else `fail` is due. To be asked before columns move.
  [[nodiscard]] bool has_risen(const Iterate& iterate) {
    constexpr double most_fall = 0.9;
    if (is_under_way_) {
      if (!(iterate::dot(slopes_, move_) >= -most_fall * rise_)) return false;
      failures_ = 0;
      if (was_cut_) most_ *= 2;
    }
    get(iterate, now_);
    return true;
  }

  /// Goes plainly where a step had been made.
  void go_plainly(const Iterate& iterate) {
    if (!is_under_way_) return;
    put(kept_, iterate);
    move_ = change_;
    is_under_way_ = false;
  }

  /// The same, for the step did not rise.
  void fail(const Iterate& iterate) {
    constexpr Index longest_pause = Index{1} << 20;
    go_plainly(iterate);
    pairs_.clear();
    most_ = std::max(2.0, most_ / 4);
    pause_ = std::min(longest_pause, Index{1} << std::min<Index>(failures_, 20));
    ++failures_;
  }

  /// After columns moved, from x to T x.
  ///
  /// \param errors  so far; the last one is that of x
  void moved(const Iterate& iterate, std::span<const double> errors) {
    constexpr double slow = 0.3;
    constexpr std::size_t first = 3;
    const std::size_t n = errors.size();
    const bool is_slow = n > 1 && errors[n - 1] > slow * errors[n - 2];
    const bool is_wanted = (is_slow || is_under_way_) && errors[n - 1] > rounding_;
    is_under_way_ = false;
    if (!is_wanted) {
      has_moved_ = false;
      return;
    }
    find_change(iterate);
    if (has_moved_) add_pair(iterate.weights);
    has_moved_ = true;
    change_.swap(now_);
    get(iterate, kept_);
    if (pause_ > 0) {
      --pause_;
    } else if (!pairs_.empty() && n >= first) {
      is_under_way_ = find_step(iterate.weights);
      if (is_under_way_) return take_step(iterate);
      pairs_.clear();
    }
    move_ = change_;
  }

  void save(iterate::Checkpoint& checkpoint) const {
    checkpoint.shared["acceleration"] = {
        is_under_way_ ? 1.0 : 0.0,      has_moved_ ? 1.0 : 0.0,     was_cut_ ? 1.0 : 0.0, most_, rise_,
        static_cast<double>(failures_), static_cast<double>(pause_)};
    checkpoint.shared["change"] = change_;
    checkpoint.shared["move"] = move_;
    checkpoint.shared["kept"] = kept_;
    pairs_.save(checkpoint);
  }

  /// \throws ArgumentError  it is of another problem
  void resume(const iterate::Checkpoint& checkpoint) {
    const auto& numbers = vector_of(checkpoint.shared, "acceleration", "numbers of the acceleration", 7);
    take(checkpoint.shared, "change", "columns of the acceleration", std::span(change_));
    take(checkpoint.shared, "move", "columns of the acceleration", std::span(move_));
    take(checkpoint.shared, "kept", "columns of the acceleration", std::span(kept_));
    is_under_way_ = numbers[0] != 0;
    has_moved_ = numbers[1] != 0;
    was_cut_ = numbers[2] != 0;
    most_ = numbers[3];
    rise_ = numbers[4];
    failures_ = static_cast<Index>(numbers[5]);
    pause_ = static_cast<Index>(numbers[6]);
    pairs_.resume(checkpoint);
  }

 private:
  static constexpr std::size_t most_pairs = 5;

  template <class F>
  static decltype(auto) with_values(const Iterate& iterate, const F& f) {
    return std::visit(f, iterate.values);
  }

  static void put(const std::vector<double>& from, const Iterate& to) {
    with_values(to, [&](auto values) {
      using A = typename decltype(values)::value_type;
      std::ranges::transform(from, values.begin(), [](double value) { return static_cast<A>(value); });
    });
  }

  static void get(const Iterate& from, std::vector<double>& to) {
    with_values(from, [&](auto values) { std::ranges::copy(values, to.begin()); });
  }

  static double length_of(const std::vector<double>& vector, std::span<const double> weights) {
    double sum = 0;
    for (std::size_t j = 0; j < vector.size(); ++j) sum += weights[j] * vector[j] * vector[j];
    return std::sqrt(sum);
  }

  void find_change(const Iterate& iterate) {
    with_values(iterate, [&](auto values) {
      for (std::size_t j = 0; j < values.size(); ++j) {
        const auto to = static_cast<double>(values[j]);
        const double found = iterate.are_logarithms ? to - now_[j] : std::log(to / now_[j]);
        now_[j] = iterate.weights[j] > 0 && std::isfinite(found) ? found : 0;
      }
    });
  }

  void add_pair(std::span<const double> weights) {
    constexpr double least_cosine = 1e-9;
    iterate::CurvaturePairs::Pair& pair = pairs_.next();
    double of_s = 0;
    double of_y = 0;
    for (std::size_t j = 0; j < weights.size(); ++j) {
      const double difference = change_[j] - now_[j];
      pair.step[j] = move_[j];
      pair.change[j] = weights[j] * difference;
      of_s += weights[j] * move_[j] * move_[j];
      of_y += pair.change[j] * difference;
    }
    pair.curvature = iterate::dot(pair.step, pair.change);
    if (pair.curvature > least_cosine * std::sqrt(of_s * of_y) && std::isfinite(of_s + of_y)) pairs_.keep();
  }

  /// Whether it rises.
  [[nodiscard]] bool find_step(std::span<const double> weights) {
    for (std::size_t j = 0; j < weights.size(); ++j) move_[j] = weights[j] * change_[j];
    pairs_.apply(move_, [&](std::span<double> move) {
      for (std::size_t j = 0; j < move.size(); ++j) move[j] = weights[j] > 0 ? move[j] / weights[j] : 0;
    });
    const double share = most_ * length_of(change_, weights) / length_of(move_, weights);
    was_cut_ = share < 1;
    if (was_cut_) {
      for (double& move : move_) move *= share;
    }
    rise_ = iterate::dot(slopes_, move_);
    return rise_ > 0 && std::isfinite(rise_);
  }

  void take_step(const Iterate& iterate) {
    with_values(iterate, [&](auto values) {
      for (std::size_t j = 0; j < values.size(); ++j) {
        if (!(iterate.weights[j] > 0)) continue;
        const double beyond = move_[j] - change_[j];
        const auto plain = static_cast<double>(values[j]);
        const auto found = static_cast<typename decltype(values)::value_type>(
            iterate.are_logarithms ? plain + beyond : plain * std::exp(beyond));
        if (std::isfinite(found) && (iterate.are_logarithms || found > 0)) {
          values[j] = found;
        } else {
          move_[j] = change_[j];
        }
      }
    });
  }

  double rounding_;
  bool is_under_way_ = false;
  bool has_moved_ = false;  // so that change_ and move_ are of the iterate before
  bool was_cut_ = false;    // the step, to the most that it may be
  double most_ = 4;         // times the length of d
  double rise_ = 0;         // slopes at the iterate before, along the step
  Index failures_ = 0;      // one after the other
  Index pause_ = 0;         // plain iterations to come
  iterate::CurvaturePairs pairs_;
  std::vector<double> now_;  // x, while columns move; then the new d
  std::vector<double> slopes_;
  std::vector<double> change_;  // d
  std::vector<double> move_;    // what was added to x
  std::vector<double> kept_;    // T x: as factors, or logarithms of them
};

}  // namespace plait::sinkhorn
