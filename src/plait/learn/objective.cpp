#include "plait/learn/objective.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/collective/reproducible_sum.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::learn {

void expect_step_and_l2(double step, double l2) {
  for (const auto& [what, value] : {std::pair{"step", step}, {"weight of the square", l2}}) {
    if (value >= 0 && value <= 0x1p200) continue;
    throw ArgumentError(fmt::format("the {} is {}, expected a number from 0 to 1e60", what, value));
  }
}

namespace {

/// The loss of one sample; its derivatives take the place of the outputs.
double loss_of(Model model, std::span<double> z, double target) {
  const auto label = static_cast<std::size_t>(target);
  if (model == Model::linear) {
    z[0] -= target;
    return z[0] * z[0] / 2;
  }
  if (model == Model::svm) {
    double loss = 0;
    for (std::size_t k = 0; k < z.size(); ++k) {
      const bool is_own = z.size() == 1 ? label == 1 : label == k;
      const double lack = std::max(0.0, is_own ? 1 - z[k] : 1 + z[k]);
      loss += lack * lack;
      z[k] = is_own ? -2 * lack : 2 * lack;
    }
    return loss;
  }
  if (z.size() == 1) {
    const double small = std::exp(-std::abs(z[0]));  // of e^z and e^-z
    const double loss = std::log1p(small) + std::max(z[0], 0.0) - (label == 1 ? z[0] : 0);
    z[0] = (z[0] >= 0 ? 1 : small) / (1 + small) - static_cast<double>(label);
    return loss;
  }
  const double highest = *std::ranges::max_element(z);
  const double own = z[label] - highest;
  double sum = 0;
  for (double& each : z) sum += each = std::exp(each - highest);
  for (double& each : z) each /= sum;
  z[label] -= 1;
  return std::log(sum) - own;
}

}  // namespace

Objective::Objective(const Samples& samples, double l2, bool intercept)
    : samples_(samples), l2_(l2), has_intercept_(intercept) {
  const Index d = samples.dimension();
  const double curvature = samples.model() == Model::linear ? 1
                           : samples.model() == Model::svm  ? 2
                           : samples.outputs() == 1         ? 0.25
                                                            : 0.5;
  mpi::agreed(samples.context(), [&] {
    scale_.resize(d);
    products_.reserve(at(samples.rows_at_once() * (d + 1)));
    x_.reserve(at(samples.rows_at_once() * d));
    z_.reserve(at(samples.rows_at_once() * samples.outputs()));
    other_z_.reserve(z_.capacity());
    origin_.assign(at(d + 1), 0);
    if (intercept) std::ranges::copy(samples.means(), origin_.begin());
    if (samples.model() != Model::linear) origin_.back() = 0;
    bounds_.assign(at(d + 1), 1);
    double around_origin = 0;
    for (Index c = 0; c < d; ++c) {
      bounds_[c] = samples.reach(c, origin_[c]);
      const double size = std::hypot(samples.deviations()[at(c)], intercept ? 0 : samples.means()[at(c)]);
      // A column of one number, or without an intercept of zeros, tells nothing: it gets no weight.
      scale_[c] = size == 0 ? HUGE_VAL : std::hypot(size, std::sqrt(l2 / curvature));
      around_origin += (size / scale_[c]) * (size / scale_[c]);
    }
    mean_curvature_ = curvature * (around_origin + 2);  // with the intercept, and with ½ λ |w|²
    samples.for_each_block(false, [&](std::span<const Index> rows) {
      center(samples.own(), rows, origin_, x_);
      for (const double* x = x_.data(); x != x_.data() + x_.size(); x += d) {
        double square = 2;
        for (Index c = 0; c < d; ++c) square += (x[c] / scale_[c]) * (x[c] / scale_[c]);
        highest_curvature_ = std::max(highest_curvature_, curvature * square);
      }
    });
  });
  highest_curvature_ = mpi::all_reduce(samples.context().comm(), highest_curvature_, mpi::Operation::maximum());
}

/// With the intercept at the origin.
Weights Objective::slopes(const Weights& u) const {
  Weights w = u;
  const Index d = samples_.dimension();
  for (Index k = 0; k < samples_.outputs(); ++k) {
    for (Index c = 0; c < d; ++c) w[k * (d + 1) + c] /= scale_[c];
    if (!has_intercept_) w[k * (d + 1) + d] = 0;
  }
  return w;
}

Weights Objective::variables(const Weights& weights) const {
  if (weights.count() != size()) {
    throw ArgumentError(fmt::format("there are {} weights to begin with, expected {}: {} of each of {} outputs",
                                    weights.count(), size(), samples_.dimension() + 1, samples_.outputs()));
  }
  Weights u = weights;
  const Index d = samples_.dimension();
  for (Index k = 0; k < samples_.outputs(); ++k) {
    double* const own = u.data() + k * (d + 1);
    own[d] -= origin_[d];
    for (Index c = 0; c < d; ++c) {
      own[d] += own[c] * origin_[c];
      own[c] = std::isinf(scale_[c]) ? 0 : own[c] * scale_[c];
    }
    if (!has_intercept_) own[d] = 0;
  }
  for (const double each : u) {
    if (!(std::abs(each) < 0x1p200)) {
      throw ArgumentError(fmt::format("weights to begin with have {}, expected finite numbers of at most 1e60", each));
    }
  }
  return u;
}

/// A bound of the magnitudes of outputs, less the origin of targets.
double Objective::largest_output(const Weights& w) const {
  const Index d = samples_.dimension();
  double highest = 0;
  for (Index k = 0; k < samples_.outputs(); ++k) {
    double sum = 0;
    for (Index c = 0; c <= d; ++c) sum += std::abs(w[k * (d + 1) + c]) * bounds_[c];
    if (!(sum <= highest)) highest = sum;
  }
  return highest;
}

/// \returns whether all that may be added up is in the range of numbers
bool Objective::begin(const Weights& w, const Weights* other) {
  double z = largest_output(w);
  if (other != nullptr) z = std::max(z, largest_output(*other));
  if (!(z < 0x1p200)) return false;
  double residual = 2;
  if (samples_.model() == Model::linear) residual = 2 * (z + samples_.reach(samples_.dimension(), origin_.back()));
  if (samples_.model() == Model::svm) residual = 4 * (1 + z);
  // Rounded up, so that sums of one evaluation go on being right for the next.
  const int exponent = residual == 0 ? 0 : std::ilogb(residual) + 1;
  loss_ = {};
  if (sums_.groups() > 0 && exponent == exponent_) {
    sums_.clear();
  } else {
    sums_.begin(collective::window_within(bounds_, exponent, samples_.count()), samples_.outputs());
    exponent_ = exponent;
  }
  return true;
}

void Objective::add(std::span<const Index> rows, const Weights& w, const Weights* other) {
  const Index d = samples_.dimension();
  const Index outputs = samples_.outputs();
  center(samples_.own(), rows, origin_, x_);
  const auto residuals = [&](const Weights& weights, std::vector<double>& z) {
    outputs_at(weights, x_, d, z);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      loss_.add(loss_of(samples_.model(), std::span(z).subspan(i * at(outputs), at(outputs)), target(rows[i])));
    }
  };
  residuals(w, z_);
  if (other != nullptr) {
    residuals(*other, other_z_);
    for (std::size_t i = 0; i < z_.size(); ++i) z_[i] -= other_z_[i];
  }
  const Index columns = d + 1;
  products_.resize(rows.size() * at(columns));
  for (Index k = 0; k < outputs; ++k) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double* x = x_.data() + i * at(d);
      const double r = z_[i * at(outputs) + at(k)];
      double* to = products_.data() + i * at(columns);
      for (Index c = 0; c < d; ++c) to[c] = r * x[c];
      to[d] = r;
    }
    sums_.add(products_.data(), static_cast<Index>(rows.size()), k);
  }
}

/// Gradients by weights from the sums, with that of ½ λ |W|²; then by u.
void Objective::finish(const Weights& w, const Weights* other, Index count, Weights& gradient, bool on_rank_0) {
  on_rank_0 ? sums_.merge_on_rank_0(samples_.context()) : sums_.merge(samples_.context());
  const Index d = samples_.dimension();
  const auto n = static_cast<double>(count);
  gradient.resize(size());
  for (Index k = 0; k < samples_.outputs(); ++k) {
    const Index begin = k * (d + 1);
    const auto mean = [&](Index c) { return sums_.rounded(k, c) / n; };
    gradient[begin + d] = has_intercept_ ? mean(d) : 0;
    for (Index c = 0; c < d; ++c) {
      const double weight = w[begin + c] - (other == nullptr ? 0 : (*other)[begin + c]);
      gradient[begin + c] = (mean(c) + l2_ * weight) / scale_[c];
    }
  }
}

void Objective::evaluate(const Weights& u, Value& value) {
  const Weights w = slopes(u);
  value.is_finite = begin(w, nullptr);
  if (!value.is_finite) return;
  samples_.for_each_block(false, [&](std::span<const Index> rows) { add(rows, w, nullptr); });
  finish(w, nullptr, samples_.training(), value.gradient);
  collective::merge(samples_.context(), std::span(&loss_, 1));
  double squares = 0;
  const Index d = samples_.dimension();
  for (Index i = 0; i < w.count(); ++i) squares += i % (d + 1) == d ? 0 : l2_ * w[i] * w[i];
  value.objective = loss_.rounded<double>() / static_cast<double>(samples_.training()) + squares / 2;
}

void Objective::difference(const Weights& u, const Weights& other, std::span<const Index> rows, Index count,
                           Weights& gradient, bool on_rank_0) {
  const Weights w = slopes(u);
  const Weights v = slopes(other);
  if (!begin(w, &v)) {
    gradient.assign(at(size()), HUGE_VAL);
    return;
  }
  const auto most = at(samples_.rows_at_once());
  for (std::size_t begin = 0; begin < rows.size(); begin += most) {
    add(rows.subspan(begin, std::min(most, rows.size() - begin)), w, &v);
  }
  finish(w, &v, count, gradient, on_rank_0);
}

void Objective::own_gradient(const Weights& u, std::span<const Index> rows, Weights& gradient) {
  const Weights w = slopes(u);
  const Index d = samples_.dimension();
  const auto n = static_cast<double>(rows.size());
  gradient.assign(at(size()), 0);
  for (const Index& row : rows) {
    center(samples_.own(), {&row, 1}, origin_, x_);
    outputs_at(w, x_, d, z_);
    static_cast<void>(loss_of(samples_.model(), z_, target(row)));
    for (Index k = 0; k < samples_.outputs(); ++k) {
      double* to = gradient.data() + k * (d + 1);
      const double r = z_[at(k)] / n;
      for (Index c = 0; c < d; ++c) to[c] += r * x_[at(c)];
      if (has_intercept_) to[d] += r;
    }
  }
  for (Index i = 0; i < size(); ++i) {
    const Index c = i % (d + 1);
    if (c < d) gradient[i] = (gradient[i] + l2_ * w[i]) / scale_[c];
  }
}

}  // namespace plait::learn
