#include "plait/learn/network/pass.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "plait/base/random.hpp"
#include "plait/dense/blas/blas.hpp"

namespace plait::learn {

namespace {

using dense::Op;
using View = matrix_view<const double>;

View view_of(const double* data, Index rows, Index columns) { return {data, rows, columns, std::max<Index>(rows, 1)}; }

/// C ← op(A) op(B) + beta C, some columns at a time.
void multiply(Op op_a, Op op_b, View a, View b, double beta, matrix_view<double> c,
              const std::function<void()>& between) {
  constexpr Index operations = Index{1} << 25;
  const Index inner = op_a == Op::identity ? a.columns() : a.rows();
  const Index at_once = std::max<Index>(16, operations / std::max<Index>(1, c.rows() * inner) / 16 * 16);
  for (Index first = 0; first < c.columns(); first += at_once) {
    const Index count = std::min(at_once, c.columns() - first);
    const View its = op_b == Op::identity ? b.part(0, first, inner, count) : b.part(first, 0, count, inner);
    dense::gemm<double>(op_a, op_b, 1, a, its, beta, c.part(0, first, c.rows(), count));
    between();
  }
}

/// Calls f(number of the patch, place in it, place in the image) for runs of `run` numbers that a convolution takes
/// from an image; place in the image is -1 beyond its sides.
template <class F>
void for_each_run(const Layer& layer, const F& f) {
  const Index run = layer.in.channels;
  const Index above = (layer.height - 1) / 2, left = (layer.width - 1) / 2;
  for (Index y = 0; y < layer.out.height; ++y) {
    for (Index x = 0; x < layer.out.width; ++x) {
      for (Index i = 0; i < layer.height; ++i) {
        for (Index j = 0; j < layer.width; ++j) {
          const Index from_y = y + i - above, from_x = x + j - left;
          const bool is_inside = from_y >= 0 && from_y < layer.in.height && from_x >= 0 && from_x < layer.in.width;
          f((y * layer.out.width + x) * layer.inputs() + (i * layer.width + j) * run,
            is_inside ? (from_y * layer.in.width + from_x) * run : Index{-1});
        }
      }
    }
  }
}

void take_patches(const Layer& layer, const double* image, double* patches) {
  const Index run = layer.in.channels;
  for_each_run(layer, [&](Index patch, Index place) {
    if (place < 0) {
      std::fill_n(patches + patch, run, 0.0);
    } else {
      std::copy_n(image + place, run, patches + patch);
    }
  });
}

void add_patches(const Layer& layer, const double* patches, double* image) {
  const Index run = layer.in.channels;
  for_each_run(layer, [&](Index patch, Index place) {
    for (Index c = 0; place >= 0 && c < run; ++c) image[place + c] += patches[patch + c];
  });
}

/// Calls f(place of the largest number in the image, place of the result) for the windows of a pool.
template <class F>
void for_each_window(const Layer& layer, const double* image, const F& f) {
  const Index channels = layer.in.channels;
  for (Index y = 0; y < layer.out.height; ++y) {
    for (Index x = 0; x < layer.out.width; ++x) {
      for (Index c = 0; c < channels; ++c) {
        Index largest = -1;
        for (Index i = 0; i < layer.height; ++i) {
          for (Index j = 0; j < layer.width; ++j) {
            const Index place = ((y * layer.height + i) * layer.in.width + x * layer.width + j) * channels + c;
            const bool is_larger = largest < 0 || image[place] > image[largest] || std::isnan(image[place]);
            if (is_larger) largest = place;
          }
        }
        f(largest, (y * layer.out.width + x) * channels + c);
      }
    }
  }
}

/// slope ← slope · f'(z), where a = f(z)
void through(Activation activation, const double* a, double* slope, Index count) {
  switch (activation) {
    case Activation::relu:
      for (Index i = 0; i < count; ++i) slope[i] = a[i] > 0 ? slope[i] : 0;
      break;
    case Activation::tanh:
      for (Index i = 0; i < count; ++i) slope[i] *= 1 - a[i] * a[i];
      break;
    case Activation::sigmoid:
      for (Index i = 0; i < count; ++i) slope[i] *= a[i] * (1 - a[i]);
      break;
    default: break;
  }
}

}  // namespace

std::vector<Parameters> random_parameters(const std::vector<Layer>& layers, std::uint64_t seed) {
  std::vector<Parameters> all;
  for (const Layer& layer : layers) {
    seed = random_bits(seed, all.size());
    const auto in = static_cast<double>(layer.inputs()), out = static_cast<double>(layer.outputs());
    const double variance = layer.activation == Activation::relu ? 2 / in : 2 / (in + out);
    Parameters& parameters = all.emplace_back(layer.parameters());
    for (Index i = 0; i < layer.weights(); ++i) {
      parameters[i] = std::sqrt(3 * variance) * (2 * random_uniform(seed, static_cast<std::uint64_t>(i)) - 1);
    }
  }
  return all;
}

Pass::Pass(const std::vector<Layer>& layers, Index samples, bool goes_back) : layers_(layers) {
  numbers_.emplace_back(samples * layers.front().in.size());
  Index patches = 0;
  for (const Layer& layer : layers) {
    numbers_.emplace_back(samples * layer.out.size());
    if (goes_back) slopes_.emplace_back(samples * layer.out.size());
    if (layer.kind != Layer::Kind::convolution) continue;
    patches = std::max(patches, std::min(samples, samples_at_once(layer)) * layer.places() * layer.inputs());
  }
  patches_.resize(patches);
}

Index Pass::bytes(const std::vector<Layer>& layers, Index samples, bool goes_back) {
  Index numbers = samples * layers.front().in.size(), patches = 0;
  for (const Layer& layer : layers) {
    numbers += (goes_back ? 2 : 1) * samples * layer.out.size();
    if (layer.kind != Layer::Kind::convolution) continue;
    patches = std::max(patches, std::min(samples, samples_at_once(layer)) * layer.places() * layer.inputs());
  }
  return (numbers + patches) * Index{sizeof(double)};
}

/// As many images as leave their patches in the cache.
Index Pass::samples_at_once(const Layer& layer) {
  constexpr Index most_numbers = Index{1} << 17;
  return std::max<Index>(1, most_numbers / (layer.places() * layer.inputs()));
}

std::span<const double> Pass::numbers(Index l, Index sample) const {
  const Index size = l < 0 ? layer(0).in.size() : layer(l).out.size();
  return std::span(numbers_[static_cast<std::size_t>(l + 1)]).subspan(at(sample * size), at(size));
}

std::span<const double> Pass::output(Index sample) const {
  return numbers(static_cast<Index>(layers_.size()) - 1, sample);
}

void Pass::activate(const Layer& layer, const double* biases, double* z, Index columns) const {
  const Index outputs = layer.outputs();
  for (Index column = 0; column < columns; ++column, z += outputs) {
    for (Index i = 0; i < outputs; ++i) z[i] += biases[i];
    switch (layer.activation) {
      case Activation::identity: break;
      case Activation::relu:  // NaN stays
        for (Index i = 0; i < outputs; ++i) z[i] = z[i] < 0 ? 0 : z[i];
        break;
      case Activation::tanh:
        for (Index i = 0; i < outputs; ++i) z[i] = std::tanh(z[i]);
        break;
      case Activation::sigmoid:
        for (Index i = 0; i < outputs; ++i) z[i] = 1 / (1 + std::exp(-z[i]));
        break;
      case Activation::softmax: {
        const double largest = *std::max_element(z, z + outputs);
        double sum = 0;
        for (Index i = 0; i < outputs; ++i) sum += z[i] = std::exp(z[i] - largest);
        for (Index i = 0; i < outputs; ++i) z[i] /= sum;
        break;
      }
    }
  }
}

void Pass::forward(const std::vector<Parameters>& parameters, Range samples) {
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const Layer& layer = layers_[l];
    const double* x = numbers_[l].data() + samples.first * layer.in.size();
    double* const z = numbers_[l + 1].data() + samples.first * layer.out.size();
    const double* const weights = parameters[l].data();
    const View w = view_of(weights, layer.inputs(), layer.kind == Layer::Kind::pool ? 0 : layer.outputs());
    if (layer.kind == Layer::Kind::pool) {
      for (Index s = 0; s < samples.count; ++s, x += layer.in.size()) {
        for_each_window(layer, x, [&](Index from, Index to) { z[s * layer.out.size() + to] = x[from]; });
      }
      continue;
    }
    const Index at_once = layer.kind == Layer::Kind::dense ? samples.count : samples_at_once(layer);
    for (Index s = 0; s < samples.count; s += at_once) {
      const Index count = std::min(at_once, samples.count - s);
      const double* columns = x + s * layer.in.size();
      if (layer.kind == Layer::Kind::convolution) {
        const Index size = layer.places() * layer.inputs();
        for (Index i = 0; i < count; ++i) {
          take_patches(layer, columns + i * layer.in.size(), patches_.data() + i * size);
        }
        columns = patches_.data();
      }
      const Index of_all = count * layer.places();
      double* const its = z + s * layer.out.size();
      multiply(Op::transpose, Op::identity, w, view_of(columns, layer.inputs(), of_all), 0,
               {its, layer.outputs(), of_all, layer.outputs()}, between);
      activate(layer, weights + layer.weights(), its, of_all);
    }
  }
}

void Pass::losses(std::span<const double> targets, double share, Range samples, simd::ExactSum& sum) {
  const Layer& last = layers_.back();
  const bool tells_classes = last.activation == Activation::softmax;
  const Index size = last.out.size();
  for (Index s = samples.first; s < samples.first + samples.count; ++s) {
    const double* const a = numbers_.back().data() + s * size;
    double* const slope = slopes_.back().data() + s * size;
    const double target = targets[at(s)];
    if (tells_classes) {
      const auto label = static_cast<Index>(target);
      sum.add(-std::log(std::max(a[label], DBL_MIN)));
      for (Index i = 0; i < size; ++i) slope[i] = share * (a[i] - (i == label ? 1 : 0));
    } else {
      sum.add((a[0] - target) * (a[0] - target) / 2);
      slope[0] = share * (a[0] - target);
      through(last.activation, a, slope, size);
    }
  }
}

void Pass::back(const std::vector<Parameters>& parameters, Index l, Range samples) {
  const Layer& its = layer(l);
  const double* const x = numbers_[at(l)].data() + samples.first * its.in.size();
  const double* const slope = slopes_[at(l)].data() + samples.first * its.out.size();
  double* const before = slopes_[at(l - 1)].data() + samples.first * its.in.size();
  if (its.kind != Layer::Kind::dense) std::fill_n(before, samples.count * its.in.size(), 0.0);
  if (its.kind == Layer::Kind::pool) {
    for (Index s = 0; s < samples.count; ++s) {
      for_each_window(its, x + s * its.in.size(),
                      [&](Index from, Index to) { before[s * its.in.size() + from] = slope[s * its.out.size() + to]; });
    }
  } else {
    const View w = view_of(parameters[at(l)].data(), its.inputs(), its.outputs());
    const bool is_dense = its.kind == Layer::Kind::dense;
    const Index at_once = is_dense ? samples.count : samples_at_once(its);
    for (Index s = 0; s < samples.count; s += at_once) {
      const Index count = std::min(at_once, samples.count - s);
      const Index of_all = count * its.places();
      double* const columns = is_dense ? before + s * its.in.size() : patches_.data();
      multiply(Op::identity, Op::identity, w, view_of(slope + s * its.out.size(), its.outputs(), of_all), 0,
               {columns, its.inputs(), of_all, its.inputs()}, between);
      for (Index i = 0; !is_dense && i < count; ++i) {
        add_patches(its, columns + i * its.places() * its.inputs(), before + (s + i) * its.in.size());
      }
    }
  }
  through(layer(l - 1).activation, x, before, samples.count * its.in.size());
}

void Pass::gradient(Index l, Range samples, std::span<double> gradient) {
  const Layer& its = layer(l);
  if (its.parameters() == 0) return;
  std::ranges::fill(gradient, 0.0);
  const double* const x = numbers_[at(l)].data() + samples.first * its.in.size();
  const double* slope = slopes_[at(l)].data() + samples.first * its.out.size();
  const bool is_dense = its.kind == Layer::Kind::dense;
  const Index at_once = is_dense ? samples.count : samples_at_once(its);
  for (Index s = 0; s < samples.count; s += at_once) {
    const Index count = std::min(at_once, samples.count - s);
    const double* columns = x + s * its.in.size();
    for (Index i = 0; !is_dense && i < count; ++i) {
      take_patches(its, columns + i * its.in.size(), patches_.data() + i * its.places() * its.inputs());
    }
    if (!is_dense) columns = patches_.data();
    const Index of_all = count * its.places();
    multiply(Op::identity, Op::transpose, view_of(columns, its.inputs(), of_all),
             view_of(slope + s * its.out.size(), its.outputs(), of_all), s == 0 ? 0 : 1,
             {gradient.data(), its.inputs(), its.outputs(), its.inputs()}, between);
  }
  double* const biases = gradient.data() + its.weights();
  for (Index column = 0; column < samples.count * its.places(); ++column, slope += its.outputs()) {
    for (Index i = 0; i < its.outputs(); ++i) biases[i] += slope[i];
  }
}

double Pass::bound(Index l, Range samples) const {
  const Layer& its = layer(l);
  double most = 0;
  for (Index s = samples.first; s < samples.first + samples.count; ++s) {
    double largest = 1, steepest = 0;
    for (const double each : numbers(l - 1, s)) {
      if (!(std::abs(each) <= largest)) largest = std::abs(each);
    }
    const double* const slope = slopes_[at(l)].data() + s * its.out.size();
    for (Index i = 0; i < its.out.size(); ++i) {
      if (!(std::abs(slope[i]) <= steepest)) steepest = std::abs(slope[i]);
    }
    const double product = largest * steepest;
    if (!(product <= most)) most = product;
  }
  return most * static_cast<double>(its.places());
}

}  // namespace plait::learn
