#include "plait/learn/network/training.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/base/random.hpp"
#include "plait/base/rounding.hpp"
#include "plait/collective/pipeline.hpp"
#include "plait/collective/reproducible_sum.hpp"
#include "plait/dense/blas/blas_threads.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::learn {

namespace {

constexpr Index samples_of_grain = 16;

template <class T>
TrainingOptions checked_training(const Samples<T>& samples, const std::vector<Layer>& layers, TrainingOptions options) {
  return mpi::agreed(samples.context(), [&](mpi::Alike& alike) {
    alike.add("number of layers", static_cast<Index>(layers.size()));
    for (const Layer& layer : layers) {
      alike.add("kind of a layer", layer.kind);
      alike.add("activation of a layer", layer.activation);
      alike.add("parameters of a layer", layer.parameters());
    }
    alike.add("optimizer", options.optimizer);
    alike.add("step", options.step);
    alike.add("weight of the square", options.l2);
    alike.add("samples of a batch", options.batch);
    alike.add("number of epochs", options.epochs);
    alike.add("seed", options.seed);
    alike.add("reproducible", options.reproducible);
    const auto expect = [](bool is_right, const char* what, auto value, const std::string& wanted) {
      if (!is_right) throw ArgumentError(fmt::format("{} is {}, expected {}", what, value, wanted));
    };
    expect(!layers.empty(), "the number of layers", layers.size(), "at least 1");
    expect(layers.front().in.size() == samples.dimension(), "the size of samples that the network takes",
           layers.front().in.size(), fmt::format("{}, as samples have so many columns", samples.dimension()));
    expect(options.step >= 0 && options.step <= 0x1p200, "the step", options.step, "a number from 0 to 1e60");
    expect(options.l2 >= 0 && options.l2 <= 0x1p200, "the weight of the square", options.l2, "a number from 0 to 1e60");
    expect(options.epochs >= 0, "the number of epochs", options.epochs, "at least 0");
    const int ranks = samples.context().size();
    expect(options.batch >= ranks, "the number of samples of a batch", options.batch,
           fmt::format("at least one for each of the {} ranks", ranks));
    expect(samples.training() >= ranks, "the number of samples to learn from", samples.training(),
           fmt::format("at least one for each of the {} ranks", ranks));
    options.batch = std::min(options.batch, samples.training());
    if (options.step == 0)
      options.step = std::array{0.1, 0.01, 0.001, 1.0}[static_cast<std::size_t>(options.optimizer)];
    const Layer& last = layers.back();
    const bool tells_classes = last.activation == Activation::softmax;
    if (tells_classes != (samples.model() == Model::logistic)) {
      throw ArgumentError(
          "the samples have other targets, expected classes where the network ends in a softmax, else numbers");
    }
    if (!tells_classes) {
      expect(last.outputs() == 1, "the number of units of the last layer", last.outputs(),
             "1, which tells a number, or a softmax, which tells classes");
    }
    for (Index i = 0; tells_classes && i < samples.own().rows; ++i) {
      const double label = samples.classes()[at(samples.label(i))];
      if (label >= 0 && label < static_cast<double>(last.outputs())) continue;
      throw ArgumentError(
          fmt::format("the labels have {} in row {} (counted from 0), expected classes from 0 to {}, one "
                      "for each unit of the last layer",
                      label, samples.first() + i, last.outputs() - 1));
    }
    return options;
  });
}

/// Rounds to multiples of a power of two, of which sums up to a bound have none to round.
class Rounder {
 public:
  explicit Rounder(double bound) {
    constexpr int bits = 51, lowest = -1022;
    const int unit = bound > 0 ? std::ilogb(bound) + 1 - bits : lowest;
    anchor_ = unit > lowest ? std::ldexp(1.5, unit + 52) : 0;
  }
  [[nodiscard]] double operator()(double x) const { return (x + anchor_) - anchor_; }

 private:
  double anchor_;
};

double norm(std::span<const double> numbers) {
  double sum = 0;
  for (const double each : numbers) sum += each * each;
  return std::sqrt(sum);
}

}  // namespace

const char* name(Optimizer optimizer) {
  return std::array{"sgd", "momentum", "adam", "lars"}[static_cast<std::size_t>(optimizer)];
}

template <class T>
Training<T>::Training(const Samples<T>& samples, std::vector<Layer> layers, const TrainingOptions& options)
    : samples_(samples),
      context_(samples.context()),
      layers_(std::move(layers)),
      options_(checked_training(samples, layers_, options)),
      batches_(samples, options_.batch, options_.reproducible ? samples_of_grain : 1, options_.seed),
      threads_(options_.reproducible ? 1 : context_.topology().share_of_cores()),
      pass_(mpi::agreed(context_, [&] { return Pass(layers_, batches_.most_samples()); })) {
  mpi::agreed(context_, [&] {
    parameters_ = random_parameters(layers_, random_bits(options_.seed, 1));
    Index most = 0;
    for (const Layer& layer : layers_) {
      gradients_.emplace_back(layer.parameters());
      first_.emplace_back(options_.optimizer == Optimizer::sgd ? 0 : layer.parameters());
      second_.emplace_back(options_.optimizer == Optimizer::adam ? layer.parameters() : 0);
      most = std::max(most, layer.parameters());
    }
    gradients_.back().push_back(0);  // whether the loss is a number
    if (options_.reproducible) grain_.resize(most);
    targets_.resize(batches_.most_samples());
    bounds_.resize(static_cast<Index>(layers_.size()));
    means_ = samples.means();
    scales_ = samples.deviations();
    share_scaling_of_channels();
    for (double& each : scales_) each = each > 0 ? each : 1;
    if (layers_.back().activation != Activation::identity) means_.back() = 0, scales_.back() = 1;
  });
  for (const Parameters& gradient : gradients_) {
    auto& sum = sums_.emplace_back();
    if (gradient.empty()) continue;
    const auto element = simd::element_of<double>();
    sum = collective::Pipeline(context_, gradient.count(), Index{sizeof(double)})
              .allreduce(collective::Group::all(context_), {simd::ReduceOperation::sum, element})
              .schedule("gradients");
  }
  pass_.between = [this] {
    for (auto& sum : sums_) {
      if (!sum || !sum->active()) continue;
      sum->progress();  // and with it all others
      return;
    }
  };
}

/// Numbers of a channel of an image have one unit: they get the mean and the deviation that all of them have.
template <class T>
void Training<T>::share_scaling_of_channels() {
  const Volume image = layers_.front().in;
  const auto places = static_cast<double>(image.height * image.width);
  for (Index c = 0; places > 1 && c < image.channels; ++c) {
    const auto for_each_column = [&](const auto& f) {
      for (Index i = c; i < image.size(); i += image.channels) f(means_[at(i)], scales_[at(i)]);
    };
    double mean = 0, variance = 0;
    for_each_column([&](double its, double) { mean += its / places; });
    for_each_column([&](double its, double deviation) {
      variance += (deviation * deviation + (its - mean) * (its - mean)) / places;
    });
    for_each_column([&](double& its, double& deviation) { its = mean, deviation = std::sqrt(variance); });
  }
}

template <class T>
Index Training<T>::bytes(const Samples<T>& samples, const std::vector<Layer>& layers, const TrainingOptions& options) {
  Index parameters = 0, most = 0;
  for (const Layer& layer : layers) {
    parameters += layer.parameters();
    most = std::max(most, layer.parameters());
  }
  const Index moments = options.optimizer == Optimizer::sgd ? 0 : options.optimizer == Optimizer::adam ? 2 : 1;
  const Index batch = std::min(options.batch, samples.training());
  const Index own = quotient_up(batch, samples.context().size()) + (options.reproducible ? samples_of_grain : 0);
  return ((3 + moments) * parameters + (options.reproducible ? most : 0)) * Index{sizeof(double)} +
         Pass::bytes(layers, own) + Batches<T>::bytes(samples, batch);
}

template <class T>
bool Training<T>::advance() {
  if (state_.step >= options_.epochs) {
    state_.end = iterate::End::limit;
    state_.reason =
        options_.epochs == 1 ? "the one epoch is done" : fmt::format("all {} epochs are done", options_.epochs);
    return false;
  }
  batches_.begin(state_.step);
  loss_ = {};
  for (Index b = 0; b < batches_.count(); ++b) step(b);
  collective::merge(context_, std::span(&loss_, 1));
  mpi::agreed(context_,
              [&] { losses_.push_back(loss_.template rounded<double>() / static_cast<double>(samples_.training())); });
  ++state_.step;
  state_.error = losses_.back();
  return true;
}

template <class T>
void Training<T>::take(RowBlock<const T> rows, Index row, double* to) const {
  const T* const from = rows.data + row * rows.leading_dimension;
  for (Index c = 0; c < rows.columns; ++c) to[c] = (double{from[c]} - means_[at(c)]) / scales_[at(c)];
}

/// To and fro through a batch, and a step along what comes of it. Sums over the ranks are under way meanwhile.
template <class T>
void Training<T>::step(Index batch) {
  const dense::BlasThreads threads(threads_);
  const auto part = batches_.part(batch);
  const Index own = part.rows.rows;
  for (Index i = 0; i < own; ++i) {
    take(part.rows, i, pass_.input() + i * part.rows.columns);
    targets_[i] = tells_classes() ? samples_.classes()[at(static_cast<Index>(part.targets[at(i)]))]
                                  : (part.targets[at(i)] - means_.back()) / scales_.back();
  }
  const Index grain = options_.reproducible ? samples_of_grain : std::max<Index>(own, 1);
  const auto for_each_grain = [&](const auto& f) {
    for (Index first = 0; first < own; first += grain) f(Pass::Range{first, std::min(grain, own - first)});
  };
  simd::ExactSum loss;
  const double share = 1 / static_cast<double>(batches_.samples_of(batch));
  for_each_grain([&](Pass::Range its) {
    pass_.forward(parameters_, its);
    pass_.losses(targets_, share, its, loss);
  });
  gradients_.back().back() =
      std::isfinite(loss.template rounded<double>()) ? 0 : std::numeric_limits<double>::quiet_NaN();
  loss_.merge(loss);
  const auto back = [&](Index l) {
    if (l > 0) for_each_grain([&](Pass::Range its) { pass_.back(parameters_, l, its); });
  };
  const Index last = static_cast<Index>(layers_.size()) - 1;
  if (options_.reproducible) {
    for (Index l = last; l >= 0; --l) {
      back(l);
      bounds_[l] = 0;
      for_each_grain([&](Pass::Range its) {
        const double bound = pass_.bound(l, its);
        if (!(bound <= bounds_[l])) bounds_[l] = std::isfinite(bound) ? bound : HUGE_VAL;
      });
    }
    mpi::all_reduce(context_.comm(), std::span<double>(bounds_), mpi::Operation::maximum());
  }
  for (Index l = last; l >= 0; --l) {
    Parameters& gradient = gradients_[at(l)];
    const std::span<double> sum = std::span(gradient).first(at(layers_[at(l)].parameters()));
    if (!sums_[at(l)]) {
      if (!options_.reproducible) back(l);
      continue;
    }
    if (options_.reproducible) {
      const Rounder rounded(bounds_[l] * static_cast<double>(batches_.samples_of(batch)));
      std::ranges::fill(sum, 0.0);
      for_each_grain([&](Pass::Range its) {
        const std::span<double> addend = std::span(grain_).first(sum.size());
        pass_.gradient(l, its, addend);
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += rounded(addend[i]);
      });
    } else {
      pass_.gradient(l, {0, own}, sum);
    }
    const auto binding = schedule::Binding::output(std::as_writable_bytes(std::span(gradient)));
    sums_[at(l)]->start(std::span(&binding, 1));
    if (!options_.reproducible) back(l);
  }
  ++steps_;
  for (Index l = last; l >= 0; --l) {
    if (sums_[at(l)]) sums_[at(l)]->wait();
    if (l == last && !std::isfinite(gradients_.back().back())) throw_not_finite(own);
    update(l);
  }
}

template <class T>
void Training<T>::throw_not_finite(Index samples) {
  for (auto& sum : sums_) {
    if (sum && sum->active()) sum->wait();
  }
  constexpr double most = 0x1p500;  // whose square is finite
  auto first = static_cast<Index>(layers_.size());
  for (Index s = 0; s < samples; ++s) {
    for (Index l = 0; l < first; ++l) {
      if (!std::ranges::all_of(pass_.numbers(l, s), [](double each) { return std::abs(each) <= most; })) first = l;
    }
  }
  first = mpi::all_reduce(context_.comm(), first, mpi::Operation::minimum());
  throw ArgumentError(fmt::format(
      "the loss is no finite number in step {} (epoch {}), as numbers of layer {} have left their range; the "
      "step is {:g}, expected a smaller one",
      steps_, state_.step + 1, first + 1, options_.step));
}

template <class T>
void Training<T>::update(Index l) {
  const Index weights = layers_[at(l)].weights(), count = layers_[at(l)].parameters();
  double* const w = parameters_[at(l)].data();
  double* const g = gradients_[at(l)].data();
  double* const v = first_[at(l)].data();
  double* const squares = second_[at(l)].data();
  for (Index i = 0; i < weights; ++i) g[i] += options_.l2 * w[i];
  constexpr double inertia = 0.9;
  double step = options_.step;
  switch (options_.optimizer) {
    case Optimizer::sgd:
      for (Index i = 0; i < count; ++i) w[i] -= step * g[i];
      break;
    case Optimizer::lars: {
      constexpr double trust = 0.001;
      const double size = norm({w, at(weights)}), slope = norm({g, at(weights)});
      if (size > 0 && slope > 0) step *= trust * size / slope;
      [[fallthrough]];
    }
    case Optimizer::momentum:
      for (Index i = 0; i < count; ++i) {
        v[i] = inertia * v[i] + step * g[i];
        w[i] -= v[i];
      }
      break;
    case Optimizer::adam: {
      constexpr double inertia_of_squares = 0.999, small = 1e-8;
      const auto t = static_cast<double>(steps_);
      const double of_mean = 1 - std::pow(inertia, t), of_squares = 1 - std::pow(inertia_of_squares, t);
      for (Index i = 0; i < count; ++i) {
        v[i] = inertia * v[i] + (1 - inertia) * g[i];
        squares[i] = inertia_of_squares * squares[i] + (1 - inertia_of_squares) * g[i] * g[i];
        w[i] -= step * (v[i] / of_mean) / (std::sqrt(squares[i] / of_squares) + small);
      }
      break;
    }
  }
}

template <class T>
void Training<T>::predict(RowBlock<const T> samples, std::span<const Index> rows, Pass& pass,
                          std::vector<double>& said) const {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    take(samples, rows[i], pass.input() + static_cast<Index>(i) * samples.columns);
  }
  // Products of one shape, so that what is said of a sample does not depend on the others.
  pass.forward(parameters_, {0, predicted_at_once});
  said.clear();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto output = pass.output(static_cast<Index>(i));
    said.push_back(tells_classes() ? static_cast<double>(std::ranges::max_element(output) - output.begin())
                                   : means_.back() + scales_.back() * output[0]);
  }
}

template <class T>
Quality Training<T>::quality() const {
  Pass pass = mpi::agreed(context_, [&] { return pass_to_predict(); });
  return quality_of<T>(samples_, [&](std::span<const Index> rows, std::vector<double>& said) {
    predict(samples_.own(), rows, pass, said);
  });
}

template <class T>
void Training<T>::save(iterate::Checkpoint& checkpoint) const {
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    checkpoint.shared[fmt::format("parameters {}", l)] = parameters_[l];
    checkpoint.shared[fmt::format("first moments {}", l)] = first_[l];
    checkpoint.shared[fmt::format("second moments {}", l)] = second_[l];
  }
  checkpoint.shared["errors"] = losses_;
  checkpoint.numbers["steps"] = static_cast<double>(steps_);
}

template <class T>
void Training<T>::resume(const iterate::Checkpoint& checkpoint) {
  mpi::agreed(context_, [&] {
    const auto take_all = [&](std::vector<Parameters>& into, const char* what) {
      for (std::size_t l = 0; l < layers_.size(); ++l) {
        const auto& from = iterate::vector_of(checkpoint.shared, fmt::format("{} {}", what, l));
        if (from.size() != into[l].size()) {
          throw ArgumentError(
              fmt::format("the state has {} {} in layer {}, expected {}", from.size(), what, l + 1, into[l].size()));
        }
        into[l] = from;
      }
    };
    take_all(parameters_, "parameters");
    take_all(first_, "first moments");
    take_all(second_, "second moments");
    losses_ = iterate::vector_of(checkpoint.shared, "errors");
    steps_ = static_cast<Index>(checkpoint.numbers.at("steps"));
    state_ = {static_cast<Index>(losses_.size()), losses_.empty() ? 0 : losses_.back()};
    if (state_.step < options_.epochs) return;
    throw ArgumentError(fmt::format("the number of epochs is {}, expected more than the {} that were done",
                                    options_.epochs, state_.step));
  });
}

template class Training<float>;
template class Training<double>;

}  // namespace plait::learn
