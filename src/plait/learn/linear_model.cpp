#include "plait/learn/linear_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "plait/simd/exact/exact_sum.hpp"

namespace plait::learn {

namespace {

/// One order of additions wherever a row lies.
double dot(const double* x, const double* w, Index count) {
  constexpr Index lanes = 8;
  std::array<double, lanes> sums{};
  Index c = 0;
  for (; c + lanes <= count; c += lanes) {
    for (Index l = 0; l < lanes; ++l) sums[at(l)] += x[c + l] * w[c + l];
  }
  for (Index l = 0; c + l < count; ++l) sums[at(l)] += x[c + l] * w[c + l];
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

}  // namespace

double prediction(Model model, std::span<const double> classes, std::span<const double> z) {
  if (std::ranges::any_of(z, [](double each) { return std::isnan(each); })) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (model == Model::linear) return z[0];
  if (z.size() == 1) return classes[z[0] > 0 ? 1 : 0];
  return classes[static_cast<std::size_t>(std::ranges::max_element(z) - z.begin())];
}

void center(const Rows& samples, std::span<const Index> rows, const Vector<double>& origin, std::vector<double>& x) {
  const Index d = samples.columns();
  x.resize(rows.size() * at(d));
  double* to = x.data();
  for (const Index i : rows) {
    samples.take(i, to);
    for (Index c = 0; c < d; ++c) *to++ -= origin[c];
  }
}

void outputs_at(const Weights& w, const std::vector<double>& x, Index dimension, std::vector<double>& z) {
  z.clear();
  for (const double* row = x.data(); row != x.data() + x.size(); row += dimension) {
    for (Index begin = 0; begin < w.count(); begin += dimension + 1) {
      z.push_back(dot(row, w.data() + begin, dimension) + w[begin + dimension]);
    }
  }
}

void LinearModel::outputs(const Rows& samples, std::span<const Index> rows, std::vector<double>& z) const {
  std::vector<double> x;
  center(samples, rows, origin, x);
  outputs_at(slopes, x, dimension(), z);
  for (double& each : z) each += origin.back();
}

void LinearModel::predict(Model model, std::span<const double> classes, const Rows& samples,
                          std::span<const Index> rows, std::vector<double>& said) const {
  std::vector<double> z;
  outputs(samples, rows, z);
  said.clear();
  const std::size_t of_each = at(slopes.count() / (dimension() + 1));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    said.push_back(prediction(model, classes, std::span(z).subspan(i * of_each, of_each)));
  }
}

Weights LinearModel::weights() const {
  Weights w = slopes;
  const Index d = dimension();
  for (Index begin = 0; begin < w.count(); begin += d + 1) {
    simd::ExactSum sum;
    sum.add(w[begin + d]);
    sum.add(origin[d]);
    for (Index c = 0; c < d; ++c) {
      const double product = -w[begin + c] * origin[c];
      sum.add(product);
      sum.add(std::fma(-w[begin + c], origin[c], -product));
    }
    w[begin + d] = sum.rounded<double>();
  }
  return w;
}

}  // namespace plait::learn
