#include "plait/sinkhorn/course/acceleration.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "plait/sinkhorn/course/iterations.hpp"

namespace plait::sinkhorn {

namespace {

constexpr std::size_t most_pairs = 5;

template <class F>
decltype(auto) with_values(const Iterate& iterate, const F& f) {
  return std::visit(f, iterate.values);
}

void put(const std::vector<double>& from, const Iterate& to) {
  with_values(to, [&](auto values) {
    using A = typename decltype(values)::value_type;
    std::ranges::transform(from, values.begin(), [](double value) { return static_cast<A>(value); });
  });
}

void get(const Iterate& from, std::vector<double>& to) {
  with_values(from, [&](auto values) { std::ranges::copy(values, to.begin()); });
}

double length_of(const std::vector<double>& vector, std::span<const double> weights) {
  double sum = 0;
  for (std::size_t j = 0; j < vector.size(); ++j) sum += weights[j] * vector[j] * vector[j];
  return std::sqrt(sum);
}

}  // namespace

QuasiNewton::QuasiNewton(const Iterate& iterate, double rounding)
    : rounding_(rounding), pairs_(most_pairs, iterate.weights.size()) {
  for (std::vector<double>* each : {&now_, &slopes_, &change_, &move_, &kept_}) each->resize(iterate.weights.size());
}

bool QuasiNewton::has_risen(const Iterate& iterate) {
  constexpr double most_fall = 0.9;
  if (is_under_way_) {
    if (!(iterate::dot(slopes_, move_) >= -most_fall * rise_)) return false;
    failures_ = 0;
    if (was_cut_) most_ *= 2;
  }
  get(iterate, now_);
  return true;
}

void QuasiNewton::go_plainly(const Iterate& iterate) {
  if (!is_under_way_) return;
  put(kept_, iterate);
  move_ = change_;
  is_under_way_ = false;
}

void QuasiNewton::fail(const Iterate& iterate) {
  constexpr Index longest_pause = Index{1} << 20;
  go_plainly(iterate);
  pairs_.clear();
  most_ = std::max(2.0, most_ / 4);
  pause_ = std::min(longest_pause, Index{1} << std::min<Index>(failures_, 20));
  ++failures_;
}

void QuasiNewton::find_change(const Iterate& iterate) {
  with_values(iterate, [&](auto values) {
    for (std::size_t j = 0; j < values.size(); ++j) {
      const auto to = static_cast<double>(values[j]);
      const double found = iterate.are_logarithms ? to - now_[j] : std::log(to / now_[j]);
      now_[j] = iterate.weights[j] > 0 && std::isfinite(found) ? found : 0;
    }
  });
}

void QuasiNewton::add_pair(std::span<const double> weights) {
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

bool QuasiNewton::find_step(std::span<const double> weights) {
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

void QuasiNewton::take_step(const Iterate& iterate) {
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

void QuasiNewton::moved(const Iterate& iterate, std::span<const double> errors) {
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

void QuasiNewton::save(iterate::Checkpoint& checkpoint) const {
  checkpoint.shared["acceleration"] = {
      is_under_way_ ? 1.0 : 0.0,      has_moved_ ? 1.0 : 0.0,     was_cut_ ? 1.0 : 0.0, most_, rise_,
      static_cast<double>(failures_), static_cast<double>(pause_)};
  checkpoint.shared["change"] = change_;
  checkpoint.shared["move"] = move_;
  checkpoint.shared["kept"] = kept_;
  pairs_.save(checkpoint);
}

void QuasiNewton::resume(const iterate::Checkpoint& checkpoint) {
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

}  // namespace plait::sinkhorn
