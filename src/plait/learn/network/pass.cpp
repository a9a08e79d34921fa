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

/// W, transposed.
View weights_of(const Layer& layer, const Parameters& parameters) {
  return {parameters.data(), layer.inputs(), layer.outputs(), layer.inputs() + 1};
}

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
  const Index above = layer.above, left = (layer.width - 1) / 2;
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

/// z ← f(z + b), where a softmax is left for when all units are there
void activate(const Layer& layer, const Vector<double>& biases, double* z, Index columns) {
  const Index outputs = layer.outputs();
  for (Index column = 0; column < columns; ++column, z += outputs) {
    for (Index i = 0; i < outputs; ++i) z[i] += biases[i];
    switch (layer.activation) {
      case Activation::relu:  // NaN stays
        for (Index i = 0; i < outputs; ++i) z[i] = z[i] < 0 ? 0 : z[i];
        break;
      case Activation::tanh:
        for (Index i = 0; i < outputs; ++i) z[i] = std::tanh(z[i]);
        break;
      case Activation::sigmoid:
        for (Index i = 0; i < outputs; ++i) z[i] = 1 / (1 + std::exp(-z[i]));
        break;
      default: break;
    }
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
      parameters[i + i / layer.inputs()] =
          std::sqrt(3 * variance) * (2 * random_uniform(seed, static_cast<std::uint64_t>(i)) - 1);
    }
  }
  return all;
}

Parameters own_part(const std::vector<double>& all, const Layer& layer, Sharing::Rows rows) {
  const auto first = all.begin() + rows.first * (layer.inputs() + 1);
  return std::vector<double>(first, first + rows.count * (layer.inputs() + 1));
}

/// Calls f(level, array, how many numbers it has) for all arrays of levels, and with nullptr for patches.
template <class F>
void Pass::for_each_array(const Sharing& sharing, int rank, Index own, Index batch, bool goes_back, const F& f) {
  Index patches = 0;
  for (Index n = 0; n <= sharing.count(); ++n) {
    const bool is_last = n == sharing.count();
    const Index makers = n == 0 ? own : sharing.samples(n - 1, rank, own, batch);
    const Index takers = sharing.samples(n, rank, own, batch);
    const Index size = sharing.level(n).size();
    f(n, &Level::made, makers * (n == 0 ? size : sharing.part(n - 1, rank).out.size()));
    if (sharing.moves(n)) f(n, &Level::taken, takers * (is_last ? size : sharing.part(n, rank).in.size()));
    if (n > 0 && goes_back) {
      f(n, &Level::slopes, makers * sharing.part(n - 1, rank).out.size());
      if (sharing.moves_back(n)) {
        f(n, &Level::taken_slopes, takers * (is_last ? size : sharing.part_back(n, rank).in.size()));
      }
      if (n > 1 && sharing.ghosts(n - 1) > 0) f(n, &Level::ghosted, makers * sharing.part_back(n - 1, rank).out.size());
    }
    if (is_last || sharing.layers()[at(n)].kind != Layer::Kind::convolution) continue;
    for (const Layer& layer : {sharing.part(n, rank), sharing.part_back(n, rank)}) {
      patches = std::max(patches, std::min(takers, samples_at_once(layer)) * layer.places() * layer.inputs());
    }
  }
  f(0, nullptr, patches);
}

Pass::Pass(const Sharing& sharing, int rank, Index own, Index batch, bool goes_back)
    : sharing_(sharing), rank_(rank), levels_(sharing.count() + 1) {
  for_each_array(sharing, rank, own, batch, goes_back, [&](Index n, Vector<double> Level::* array, Index count) {
    (array == nullptr ? patches_ : levels_[n].*array).resize(count);
  });
  for (Index l = 0; l <= sharing.count(); ++l) {
    levels_[l].moves = sharing.moves(l);
    levels_[l].moves_back = sharing.moves_back(l);
    if (l == sharing.count()) break;
    parts_.push_back(sharing.part(l, rank));
    biases_.resize(std::max(biases_.count(), parts_.back().outputs()));
    backs_.push_back(sharing.part_back(l, rank));
  }
}

Index Pass::bytes(const Sharing& sharing, int rank, Index own, Index batch, bool goes_back) {
  Index numbers = 0;
  for_each_array(sharing, rank, own, batch, goes_back,
                 [&](Index, Vector<double> Level::*, Index count) { numbers += count; });
  return numbers * Index{sizeof(double)};
}

void Pass::begin(Index own, Index batch) {
  for (Index l = 0; l <= sharing_.count(); ++l) levels_[l].samples = sharing_.samples(l, rank_, own, batch);
}

/// As many images as leave their patches in the cache.
Index Pass::samples_at_once(const Layer& layer) {
  constexpr Index most_numbers = Index{1} << 17;
  return std::max<Index>(1, most_numbers / std::max<Index>(1, layer.places() * layer.inputs()));
}

const double* Pass::columns_of(const Layer& layer, const double* samples, Index count) {
  if (layer.kind == Layer::Kind::dense) return samples;
  for (Index i = 0; i < count; ++i) {
    take_patches(layer, samples + i * layer.in.size(), patches_.data() + i * layer.places() * layer.inputs());
  }
  return patches_.data();
}

double* Pass::ghosted(Index l) noexcept {
  Level& level = levels_[l + 1];
  return (level.ghosted.empty() ? level.slopes : level.ghosted).data();
}

double* Pass::taken(Index l) noexcept {
  Level& level = levels_[l];
  return (level.moves ? level.taken : level.made).data();
}

double* Pass::taken_slopes(Index l) noexcept {
  Level& level = levels_[l];
  return (level.moves_back ? level.taken_slopes : level.slopes).data();
}

std::span<const double> Pass::numbers(Index l, Index sample) {
  const Index size = l < 0 ? sharing_.level(0).size() : part(l).out.size();
  return {made(l) + sample * size, at(size)};
}

std::span<const double> Pass::output(Index sample) {
  const Index size = sharing_.level(sharing_.count()).size();
  return {taken(sharing_.count()) + sample * size, at(size)};
}

/// Those of them that layer l gets.
Pass::Range Pass::of(Index l, Range samples) const {
  return {samples.first, std::clamp<Index>(levels_[l].samples - samples.first, 0, samples.count)};
}

void Pass::forward(const std::vector<Parameters>& parameters, Range samples) {
  for (Index l = 0; l < sharing_.count(); ++l) forward(parameters[at(l)], l, samples);
  tell(samples);
}

void Pass::forward(const Parameters& parameters, Index l, Range samples) {
  const Layer& its = part(l);
  const auto [first, all] = of(l, samples);
  if (all * its.out.size() == 0) return;
  const double* const x = taken(l) + first * its.in.size();
  double* const z = made(l) + first * its.out.size();
  if (its.kind == Layer::Kind::pool) {
    for (Index s = 0; s < all; ++s) {
      for_each_window(its, x + s * its.in.size(),
                      [&](Index from, Index to) { z[s * its.out.size() + to] = x[s * its.in.size() + from]; });
    }
    return;
  }
  const bool is_dense = its.kind == Layer::Kind::dense;
  const View w = weights_of(its, parameters);
  for (Index i = 0; i < its.outputs(); ++i) biases_[i] = parameters[(i + 1) * (its.inputs() + 1) - 1];
  const Index at_once = is_dense ? all : samples_at_once(its);
  for (Index s = 0; s < all; s += at_once) {
    const Index count = std::min(at_once, all - s);
    const double* const columns = columns_of(its, x + s * its.in.size(), count);
    const Index of_all = count * its.places();
    double* const out = z + s * its.out.size();
    multiply(Op::transpose, Op::identity, w, view_of(columns, its.inputs(), of_all), 0,
             {out, its.outputs(), of_all, its.outputs()}, between);
    activate(its, biases_, out, of_all);
  }
}

void Pass::tell(Range samples) {
  const Index size = sharing_.level(sharing_.count()).size();
  const auto [first, count] = of(sharing_.count(), samples);
  if (sharing_.layers().back().activation != Activation::softmax) return;
  for (double* z = taken(sharing_.count()) + first * size; z < taken(sharing_.count()) + (first + count) * size;
       z += size) {
    const double largest = *std::max_element(z, z + size);
    double sum = 0;
    for (Index i = 0; i < size; ++i) sum += z[i] = std::exp(z[i] - largest);
    for (Index i = 0; i < size; ++i) z[i] /= sum;
  }
}

void Pass::losses(std::span<const double> targets, double share, Range samples, simd::ExactSum& sum) {
  const Index last = sharing_.count(), size = sharing_.level(last).size();
  const bool tells_classes = sharing_.layers().back().activation == Activation::softmax;
  const auto [first, count] = of(last, samples);
  for (Index s = first; s < first + count; ++s) {
    const double* const a = taken(last) + s * size;
    double* const slope = taken_slopes(last) + s * size;
    const double target = targets[at(s)];
    if (tells_classes) {
      const auto label = static_cast<Index>(target);
      sum.add(-std::log(std::max(a[label], DBL_MIN)));
      for (Index i = 0; i < size; ++i) slope[i] = share * (a[i] - (i == label ? 1 : 0));
    } else {
      sum.add((a[0] - target) * (a[0] - target) / 2);
      slope[0] = share * (a[0] - target);
    }
  }
}

void Pass::through(Index l, Range samples) {
  const Index size = part(l).out.size();
  const auto [first, count] = of(l, samples);
  const double* const a = made(l) + first * size;
  double* const slope = slopes(l) + first * size;
  switch (part(l).activation) {
    case Activation::relu:
      for (Index i = 0; i < count * size; ++i) slope[i] = a[i] > 0 ? slope[i] : 0;
      break;
    case Activation::tanh:
      for (Index i = 0; i < count * size; ++i) slope[i] *= 1 - a[i] * a[i];
      break;
    case Activation::sigmoid:
      for (Index i = 0; i < count * size; ++i) slope[i] *= a[i] * (1 - a[i]);
      break;
    default: break;
  }
}

void Pass::back(const Parameters& parameters, Index l, Range samples) {
  const Layer& its = backs_[at(l)];
  const auto [first, all] = of(l, samples);
  if (all * its.in.size() == 0) return;
  const double* const slope = ghosted(l) + first * its.out.size();
  double* const before = taken_slopes(l) + first * its.in.size();
  const bool is_dense = its.kind == Layer::Kind::dense;
  if (!is_dense || its.outputs() == 0) std::fill_n(before, all * its.in.size(), 0.0);
  if (its.out.size() == 0) return;
  if (its.kind == Layer::Kind::pool) {
    const double* const x = taken(l) + first * its.in.size();
    for (Index s = 0; s < all; ++s) {
      for_each_window(its, x + s * its.in.size(),
                      [&](Index from, Index to) { before[s * its.in.size() + from] = slope[s * its.out.size() + to]; });
    }
    return;
  }
  const View w = weights_of(its, parameters);
  const Index at_once = is_dense ? all : samples_at_once(its);
  for (Index s = 0; s < all; s += at_once) {
    const Index count = std::min(at_once, all - s);
    const Index of_all = count * its.places();
    double* const columns = is_dense ? before + s * its.in.size() : patches_.data();
    multiply(Op::identity, Op::identity, w, view_of(slope + s * its.out.size(), its.outputs(), of_all), 0,
             {columns, its.inputs(), of_all, its.inputs()}, between);
    for (Index i = 0; !is_dense && i < count; ++i) {
      add_patches(its, columns + i * its.places() * its.inputs(), before + (s + i) * its.in.size());
    }
  }
}

void Pass::gradient(Index l, Range samples, std::span<double> gradient, Index first_unit) {
  const Layer& its = part(l);
  std::ranges::fill(gradient, 0.0);
  const auto [first, all] = of(l, samples);
  if (its.parameters() == 0 || all * its.out.size() == 0) return;
  const double* const x = taken(l) + first * its.in.size();
  const double* slope = slopes(l) + first * its.out.size() + first_unit;
  const Index row = its.inputs() + 1, units = static_cast<Index>(gradient.size()) / row;
  const bool is_dense = its.kind == Layer::Kind::dense;
  const Index at_once = is_dense ? all : samples_at_once(its);
  for (Index s = 0; s < all; s += at_once) {
    const Index count = std::min(at_once, all - s);
    const double* const columns = columns_of(its, x + s * its.in.size(), count);
    const Index of_all = count * its.places();
    multiply(Op::identity, Op::transpose, view_of(columns, its.inputs(), of_all),
             {slope + s * its.out.size(), units, of_all, its.outputs()}, s == 0 ? 0 : 1,
             {gradient.data(), its.inputs(), units, row}, between);
  }
  std::ranges::fill(biases_, 0.0);
  for (Index column = 0; column < all * its.places(); ++column, slope += its.outputs()) {
    for (Index i = 0; i < units; ++i) biases_[i] += slope[i];
  }
  for (Index i = 0; i < units; ++i) gradient[at((i + 1) * row - 1)] = biases_[i];
}

double Pass::bound(Index l, Range samples) {
  const Layer& its = part(l);
  const auto largest = [](const double* numbers, Index count, double least) {
    for (Index i = 0; i < count; ++i) {
      if (!(std::abs(numbers[i]) <= least)) least = std::abs(numbers[i]);
    }
    return least;
  };
  double most = 0;
  const auto [first, count] = of(l, samples);
  for (Index s = first; s < first + count; ++s) {
    const double product = largest(taken(l) + s * its.in.size(), its.in.size(), 1) *
                           largest(slopes(l) + s * its.out.size(), its.out.size(), 0);
    if (!(product <= most)) most = product;
  }
  return most * static_cast<double>(its.places());
}

}  // namespace plait::learn
