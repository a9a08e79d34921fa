#include "plait/learn/objective.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::learn {

namespace {

/// One order of additions wherever a row lies.
template <class T>
double dot(const T* x, const double* w, Index count) {
  constexpr Index lanes = 8;
  std::array<double, lanes> sums{};
  Index c = 0;
  for (; c + lanes <= count; c += lanes) {
    for (Index l = 0; l < lanes; ++l) sums[at(l)] += double{x[c + l]} * w[c + l];
  }
  for (Index l = 0; c + l < count; ++l) sums[at(l)] += double{x[c + l]} * w[c + l];
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

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

/// Bounds of the magnitudes of outputs.
template <class T>
double largest_output(const Samples<T>& samples, const Weights& w) {
  const Index d = samples.dimension();
  double highest = 0;
  for (Index k = 0; k < samples.outputs(); ++k) {
    double sum = std::abs(w[k * (d + 1) + d]);
    for (Index c = 0; c < d; ++c) sum += std::abs(w[k * (d + 1) + c]) * samples.largest()[at(c)];
    if (!(sum <= highest)) highest = sum;
  }
  return highest;
}

}  // namespace

template <class T>
void outputs_of(const Weights& weights, Index outputs, RowBlock<const T> samples, std::span<const Index> rows,
                std::vector<double>& z) {
  const Index d = samples.columns;
  z.clear();
  for (const Index i : rows) {
    const T* x = samples.data + i * samples.leading_dimension;
    for (Index k = 0; k < outputs; ++k) {
      const double* w = weights.data() + k * (d + 1);
      z.push_back(dot(x, w, d) + w[d]);
    }
  }
}

double prediction(Model model, std::span<const double> classes, std::span<const double> z) {
  if (model == Model::linear) return z[0];
  if (z.size() == 1) return classes[z[0] > 0 ? 1 : 0];
  return classes[static_cast<std::size_t>(std::ranges::max_element(z) - z.begin())];
}

template <class T>
Objective<T>::Objective(const Samples<T>& samples, double l2, bool intercept)
    : samples_(samples), l2_(l2), has_intercept_(intercept) {
  const Index d = samples.dimension();
  const double curvature = samples.model() == Model::linear ? 1
                           : samples.model() == Model::svm  ? 2
                           : samples.outputs() == 1         ? 0.25
                                                            : 0.5;
  mpi::agreed(samples.context(), [&] {
    scale_.resize(d);
    products_.reserve(at(samples.rows_at_once() * (d + 2)));
    z_.reserve(at(samples.rows_at_once() * samples.outputs()));
    other_z_.reserve(z_.capacity());
    bounds_.assign(samples.largest().begin(), samples.largest().end());
    bounds_.insert(bounds_.end(), {1.0, 1.0});
    double around_origin = 0;
    for (Index c = 0; c < d; ++c) {
      const double mean = samples.means()[at(c)];
      const double square = samples.variances()[at(c)] + (intercept ? 0 : mean * mean);
      // A column of one number, or without an intercept of zeros, tells nothing: it gets no weight.
      scale_[c] = square == 0 ? HUGE_VAL : std::sqrt(square + l2 / curvature);
      around_origin += square / (scale_[c] * scale_[c]);
    }
    mean_curvature_ = curvature * (around_origin + 2);  // with the intercept, and with ½ λ |w|²
    samples.for_each_block(false, [&](std::span<const Index> rows) {
      for (const Index i : rows) {
        const T* x = samples.own().data + i * samples.own().leading_dimension;
        double square = 2;
        for (Index c = 0; c < d; ++c) {
          const double t = (double{x[c]} - (intercept ? samples.means()[at(c)] : 0)) / scale_[c];
          square += t * t;
        }
        highest_curvature_ = std::max(highest_curvature_, curvature * square);
      }
    });
  });
  highest_curvature_ = mpi::all_reduce(samples.context().comm(), highest_curvature_, mpi::Operation::maximum());
}

template <class T>
Weights Objective<T>::weights(const Weights& u) const {
  Weights w = u;
  const Index d = samples_.dimension();
  for (Index k = 0; k < samples_.outputs(); ++k) {
    double& b = w[k * (d + 1) + d];
    if (!has_intercept_) b = 0;
    for (Index c = 0; c < d; ++c) {
      double& each = w[k * (d + 1) + c];
      each /= scale_[c];
      if (has_intercept_) b -= samples_.means()[at(c)] * each;
    }
  }
  return w;
}

/// \returns whether all that may be added up is in the range of numbers
template <class T>
bool Objective<T>::begin(const Weights& w, const Weights* other) {
  double z = largest_output(samples_, w);
  if (other != nullptr) z = std::max(z, largest_output(samples_, *other));
  if (!(z < 0x1p200)) return false;
  double residual = 2;
  double loss = 16 + 4 * z;  // log of a thousand classes, and twice the outputs
  if (samples_.model() == Model::linear) {
    residual = 2 * (z + samples_.largest_target());
    loss = residual * residual;
  } else if (samples_.model() == Model::svm) {
    residual = 4 * (1 + z);
    loss = static_cast<double>(samples_.outputs()) * residual * residual;
  }
  // Rounded up, so that sums of one evaluation go on being right for the next.
  const int exponent = residual == 0 ? 0 : std::ilogb(residual) + 1;
  bounds_[samples_.dimension() + 1] = loss == 0 ? 0 : std::ldexp(1.0, std::ilogb(loss) + 1 - exponent);
  sums_.begin(bounds_, exponent, samples_.outputs(), samples_.count());
  return true;
}

template <class T>
void Objective<T>::add(std::span<const Index> rows, const Weights& w, const Weights* other) {
  const Index d = samples_.dimension();
  const Index outputs = samples_.outputs();
  const auto residuals = [&](const Weights& weights, std::vector<double>& z, double* losses, Index pitch) {
    outputs_of(weights, outputs, samples_.own(), rows, z);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double loss =
          loss_of(samples_.model(), std::span(z).subspan(i * at(outputs), at(outputs)), samples_.target(rows[i]));
      if (losses != nullptr) losses[static_cast<Index>(i) * pitch] = loss;
    }
  };
  const Index columns = d + 2;
  products_.resize(rows.size() * at(columns));
  residuals(w, z_, products_.data() + d + 1, columns);
  if (other != nullptr) {
    residuals(*other, other_z_, nullptr, 0);
    for (std::size_t i = 0; i < z_.size(); ++i) z_[i] -= other_z_[i];
  }
  for (Index k = 0; k < outputs; ++k) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const T* x = samples_.own().data + rows[i] * samples_.own().leading_dimension;
      const double r = z_[i * at(outputs) + at(k)];
      double* to = products_.data() + i * at(columns);
      for (Index c = 0; c < d; ++c) to[c] = r * double{x[c]};
      to[d] = r;
      if (k > 0 || other != nullptr) to[d + 1] = 0;
    }
    sums_.add(products_.data(), static_cast<Index>(rows.size()), k);
  }
}

/// Gradients by weights from the sums, with that of ½ λ |W|²; then by u.
template <class T>
void Objective<T>::finish(const Weights& w, const Weights* other, Index count, Weights& gradient) {
  sums_.merge(samples_.context());
  const Index d = samples_.dimension();
  const auto n = static_cast<double>(count);
  gradient.resize(size());
  for (Index k = 0; k < samples_.outputs(); ++k) {
    const Index begin = k * (d + 1);
    const double by_intercept = has_intercept_ ? sums_(k, d) / n : 0;
    gradient[begin + d] = by_intercept;
    for (Index c = 0; c < d; ++c) {
      const double weight = w[begin + c] - (other == nullptr ? 0 : (*other)[begin + c]);
      gradient[begin + c] = (sums_(k, c) / n + l2_ * weight - samples_.means()[at(c)] * by_intercept) / scale_[c];
    }
  }
}

template <class T>
void Objective<T>::evaluate(const Weights& u, Value& value) {
  const Weights w = weights(u);
  value.is_finite = begin(w, nullptr);
  if (!value.is_finite) return;
  samples_.for_each_block(false, [&](std::span<const Index> rows) { add(rows, w, nullptr); });
  finish(w, nullptr, samples_.training(), value.gradient);
  double squares = 0;
  const Index d = samples_.dimension();
  for (Index i = 0; i < w.count(); ++i) squares += i % (d + 1) == d ? 0 : w[i] * w[i];
  value.objective = sums_(0, d + 1) / static_cast<double>(samples_.training()) + l2_ * squares / 2;
}

template <class T>
void Objective<T>::difference(const Weights& u, const Weights& other, std::span<const Index> rows, Index count,
                              Weights& gradient) {
  const Weights w = weights(u);
  const Weights v = weights(other);
  if (!begin(w, &v)) {
    gradient.assign(at(size()), HUGE_VAL);
    return;
  }
  const auto most = at(samples_.rows_at_once());
  for (std::size_t begin = 0; begin < rows.size(); begin += most) {
    add(rows.subspan(begin, std::min(most, rows.size() - begin)), w, &v);
  }
  finish(w, &v, count, gradient);
}

template <class T>
void Objective<T>::step_down(Weights& u, Index sample, double length) {
  const Weights w = weights(u);
  const Index d = samples_.dimension();
  outputs_of(w, samples_.outputs(), samples_.own(), {&sample, 1}, z_);
  static_cast<void>(loss_of(samples_.model(), z_, samples_.target(sample)));
  const T* x = samples_.own().data + sample * samples_.own().leading_dimension;
  for (Index k = 0; k < samples_.outputs(); ++k) {
    double* to = u.data() + k * (d + 1);
    const double r = z_[at(k)];
    for (Index c = 0; c < d; ++c) {
      const double from = has_intercept_ ? samples_.means()[at(c)] : 0;
      to[c] -= length * (r * (double{x[c]} - from) + l2_ * w[k * (d + 1) + c]) / scale_[c];
    }
    if (has_intercept_) to[d] -= length * r;
  }
}

#define PLAIT_INSTANTIATE(T)                                                                                        \
  template void outputs_of(const Weights&, Index, RowBlock<const T>, std::span<const Index>, std::vector<double>&); \
  template class Objective<T>;
PLAIT_INSTANTIATE(float)
PLAIT_INSTANTIATE(double)
#undef PLAIT_INSTANTIATE

}  // namespace plait::learn
