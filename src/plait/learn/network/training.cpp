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

/// In how many parts the gradient of a layer is computed, so that the sums of the first ones over the ranks are under
/// way meanwhile: the same on any number of ranks.
Index parts_of(const Layer& layer) {
  constexpr Index least_numbers = Index{1} << 17, most = 8;
  if (layer.kind != Layer::Kind::dense) return 1;  // images would be cut into patches once more for each
  return std::clamp<Index>(layer.parameters() / least_numbers, 1, std::min(most, layer.outputs()));
}

}  // namespace

Training::Training(const Samples& samples, std::vector<Layer> layers, const TrainingOptions& options,
                   const Network* start)
    : samples_(samples),
      context_(samples.context()),
      options_(checked_training(samples, layers, options)),
      sharing_(mpi::agreed(context_, [&] { return Sharing(layers, options_.parallelism, context_.size()); })),
      grain_(grain_of(options_, sharing_.parallelism(), context_.size())),
      batches_(samples, options_.batch, options_.reproducible ? grain_ : 1, options_.seed),
      course_({.tolerance = 0, .most_iterations = options_.epochs}, {}),
      threads_(options_.reproducible ? 1 : context_.topology().share_of_cores()),
      pass_(mpi::agreed(context_,
                        [&] { return Pass(sharing_, context_.rank(), batches_.most_samples(), options_.batch); })),
      exchanges_(context_, sharing_, pass_, {batches_.splits(0), batches_.splits(batches_.count() - 1)}, grain_) {
  mpi::agreed(context_, [&] {
    network_.layers = std::move(layers);
    const auto all =
        start != nullptr ? start->parameters : random_parameters(network_.layers, random_bits(options_.seed, 1));
    Index most = 0;
    for (std::size_t l = 0; l < all.size(); ++l) {
      const Layer& layer = network_.layers[l];
      if (all[l].count() != layer.parameters()) {
        throw ArgumentError(
            fmt::format("layer {} begins with {} parameters, expected {}", l + 1, all[l].size(), layer.parameters()));
      }
      network_.parameters.push_back(own_part(all[l], layer, sharing_.rows(static_cast<Index>(l), context_.rank())));
      const Index count = network_.parameters.back().count();
      gradients_.emplace_back(count);
      first_.emplace_back(options_.optimizer == Optimizer::sgd ? 0 : count);
      second_.emplace_back(options_.optimizer == Optimizer::adam ? count : 0);
      most = std::max(most, count);
    }
    gradients_.back().push_back(0);  // whether the loss is a number
    if (options_.reproducible) of_grain_.resize(most);
    targets_.resize(batches_.most_samples());
    bounds_.resize(sharing_.count());
    network_.means = start != nullptr ? start->means : samples.means();
    network_.scales = start != nullptr ? start->scales : samples.deviations();
    if (start != nullptr) return;
    share_scaling_of_channels();
    for (double& each : network_.scales) each = each > 0 ? each : 1;
    if (network_.layers.back().activation != Activation::identity)
      network_.means.back() = 0, network_.scales.back() = 1;
  });
  for (std::size_t l = 0; l < gradients_.size(); ++l) {
    const Layer& layer = network_.layers[l];
    const Index row = layer.inputs() + 1, units = network_.parameters[l].count() / row;
    std::span<double> rest(gradients_[l]);
    std::vector<Block>& blocks = blocks_.emplace_back();
    for (Index first = 0, left = sharing_.adds_up() ? parts_of(layer) : 1; !rest.empty(); --left) {
      const Index count = quotient_up(units - first, left);
      blocks.push_back({first, rest.first(left == 1 ? rest.size() : at(count * row))});
      Block& block = blocks.back();
      rest = rest.subspan(block.gradient.size());
      first += count;
      if (!sharing_.adds_up()) continue;
      const auto element = simd::element_of<double>();
      block.sum = collective::Pipeline(context_, static_cast<Index>(block.gradient.size()), Index{sizeof(double)})
                      .allreduce(collective::Group::all(context_), {simd::ReduceOperation::sum, element})
                      .schedule("gradients");
    }
  }
  pass_.between = [this] {
    exchanges_.progress();
    for (auto& blocks : blocks_) {
      for (Block& each : blocks) {
        if (!each.sum || !each.sum->active()) continue;
        each.sum->progress();  // and with it all others
        return;
      }
    }
  };
}

/// Numbers of a channel of an image have one unit: they get the mean and the deviation that all of them have.
void Training::share_scaling_of_channels() {
  const Volume image = network_.layers.front().in;
  const auto places = static_cast<double>(image.height * image.width);
  for (Index c = 0; places > 1 && c < image.channels; ++c) {
    const auto for_each_column = [&](const auto& f) {
      for (Index i = c; i < image.size(); i += image.channels) f(network_.means[at(i)], network_.scales[at(i)]);
    };
    double mean = 0, variance = 0;
    for_each_column([&](double its, double) { mean += its / places; });
    for_each_column([&](double its, double deviation) {
      variance += (deviation * deviation + (its - mean) * (its - mean)) / places;
    });
    for_each_column([&](double& its, double& deviation) { its = mean, deviation = std::sqrt(variance); });
  }
}

Index Training::bytes(const Samples& samples, const std::vector<Layer>& layers, const TrainingOptions& options) {
  const mpi::Context& context = samples.context();
  const Sharing sharing(layers, options.parallelism, context.size());
  Index parameters = 0, most = 0;
  for (Index l = 0; l < sharing.count(); ++l) {
    const Index own = sharing.rows(l, context.rank()).count * (layers[at(l)].inputs() + 1);
    parameters += own;
    most = std::max(most, own);
  }
  const Index moments = options.optimizer == Optimizer::sgd ? 0 : options.optimizer == Optimizer::adam ? 2 : 1;
  const Index batch = std::min(options.batch, samples.training());
  const Index grain = options.reproducible ? grain_of(options, options.parallelism, context.size()) : 0;
  const Index own = std::min(batch, quotient_up(batch, context.size()) + grain);
  return ((3 + moments) * parameters + (options.reproducible ? most : 0)) * Index{sizeof(double)} +
         Pass::bytes(sharing, context.rank(), own, batch) + Batches::bytes(samples, batch);
}

bool Training::advance() {
  if (course_.is_at_limit()) {
    course_.finish();
    return false;
  }
  mpi::agreed(context_, [&] {
    if (!course_.has_room()) course_.make_room();
  });
  batches_.begin(state().step);
  loss_ = {};
  for (Index b = 0; b < batches_.count(); ++b) step(b);
  collective::merge(context_, std::span(&loss_, 1));
  course_.took(loss_.rounded<double>() / static_cast<double>(samples_.training()));
  return true;
}

/// Forward and backward through a batch, and a step along the gradient. Sums over the ranks are under way meanwhile.
void Training::step(Index batch) {
  using What = Exchanges::What;
  const dense::BlasThreads threads(threads_);
  TimedComputation timed(context_.timeline(), "products", steps_ + 1);
  const auto part = batches_.part(batch);
  const Index own = part.rows.count(), all = batches_.samples_of(batch), layers = sharing_.count();
  for (Index i = 0; i < own; ++i) {
    network_.take(part.rows, i, pass_.input() + i * part.rows.columns());
    targets_[i] = network_.tells_classes() ? samples_.classes()[at(static_cast<Index>(part.targets[at(i)]))]
                                           : (part.targets[at(i)] - network_.means.back()) / network_.scales.back();
  }
  pass_.begin(own, all);
  exchanges_.begin(all, std::span(targets_).first(at(own)));
  const Index count = sharing_.parallelism() == Parallelism::data ? own : all;
  const auto for_each_grain = [&](const auto& f) {
    for (Index first = 0; first < count; first += grain_) f(Pass::Range{first, std::min(grain_, count - first)});
  };
  simd::ExactSum loss;
  const double share = 1 / static_cast<double>(all);
  for_each_grain([&](Pass::Range its) {
    for (Index l = 0; l < layers; ++l) {
      if (l > 0) exchanges_.move(What::numbers, l, its);
      timed([&] { pass_.forward(network_.parameters[at(l)], l, its); });
    }
    exchanges_.move(What::numbers, layers, its);
    pass_.tell(its);
    pass_.losses(exchanges_.targets(), share, its, loss);
  });
  double is_wrong = std::isfinite(loss.rounded<double>()) ? 0 : std::numeric_limits<double>::quiet_NaN();
  loss_.merge(loss);
  // From what layer l takes to the slopes by W x + b of the one before it; l = layers: from the loss.
  const auto back = [&](Index l, Pass::Range its) {
    if (l < layers) {
      exchanges_.move(What::ghosts, l, its);
      timed([&] { pass_.back(network_.parameters[at(l)], l, its); });
    }
    exchanges_.move(What::slopes, l, its);
    pass_.through(l - 1, its);
  };
  // Gradients of a layer are under way while those before it are computed; or all slopes are there first, where they
  // bound sums, or others wait for them.
  const bool goes_first = options_.reproducible || sharing_.parallelism() == Parallelism::pipeline;
  for_each_grain([&](Pass::Range its) {
    for (Index l = layers; l >= (goes_first ? 1 : layers); --l) back(l, its);
  });
  if (options_.reproducible) {
    for (Index l = 0; l < layers; ++l) {
      bounds_[l] = 0;
      for_each_grain([&](Pass::Range its) {
        const double bound = pass_.bound(l, its);
        if (!(bound <= bounds_[l])) bounds_[l] = std::isfinite(bound) ? bound : HUGE_VAL;
      });
    }
    mpi::all_reduce(context_.comm(), std::span<double>(bounds_), mpi::Operation::maximum());
  }
  gradients_.back().back() = is_wrong;
  for (Index l = layers - 1; l >= 0; --l) {
    const Rounder rounded(bounds_[l] * static_cast<double>(all));
    const std::size_t row = at(network_.layers[at(l)].inputs() + 1);
    for (Block& block : blocks_[at(l)]) {
      const std::span<double> sum = block.gradient.first(block.gradient.size() / row * row);
      if (options_.reproducible) {
        std::ranges::fill(sum, 0.0);
        for_each_grain([&](Pass::Range its) {
          const std::span<double> addend = std::span(of_grain_).first(sum.size());
          timed([&] {
            pass_.gradient(l, its, addend, block.first_unit);
            for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += rounded(addend[i]);
          });
        });
      } else {
        timed([&] { pass_.gradient(l, {0, count}, sum, block.first_unit); });
      }
      if (!block.sum) continue;
      const auto binding = schedule::Binding::output(std::as_writable_bytes(block.gradient));
      block.sum->start(std::span(&binding, 1));
    }
    if (!goes_first && l > 0) back(l, {0, count});
  }
  exchanges_.settle();
  ++steps_;
  if (!sharing_.adds_up()) {
    is_wrong = mpi::all_reduce(context_.comm(), std::isnan(is_wrong) ? 1.0 : 0.0, mpi::Operation::maximum());
    if (is_wrong > 0) throw_not_finite();
  }
  for (Index l = layers - 1; l >= 0; --l) {
    for (Block& block : blocks_[at(l)]) {
      if (block.sum) block.sum->wait();
    }
    if (l == layers - 1 && !std::isfinite(gradients_.back().back())) throw_not_finite();
    timed([&] { update(l); });
  }
}

void Training::throw_not_finite() {
  for (auto& blocks : blocks_) {
    for (Block& each : blocks) {
      if (each.sum && each.sum->active()) each.sum->wait();
    }
  }
  constexpr double most = 0x1p500;  // whose square is finite
  Index first = sharing_.count();
  for (Index l = first - 1; l >= 0; --l) {
    for (Index s = 0; s < pass_.samples(l); ++s) {
      if (!std::ranges::all_of(pass_.numbers(l, s), [](double each) { return std::abs(each) <= most; })) first = l;
    }
  }
  first = mpi::all_reduce(context_.comm(), first, mpi::Operation::minimum());
  throw ArgumentError(fmt::format(
      "the loss is no finite number in step {} (epoch {}), as numbers of layer {} have left their range; the "
      "step is {:g}, expected a smaller one",
      steps_, state().step + 1, first + 1, options_.step));
}

void Training::update(Index l) {
  const Layer& layer = network_.layers[at(l)];
  const Index row = layer.inputs() + 1;
  const Index count = network_.parameters[at(l)].count();
  double* const w = network_.parameters[at(l)].data();
  double* const g = gradients_[at(l)].data();
  double* const v = first_[at(l)].data();
  double* const squares = second_[at(l)].data();
  const auto of_weights = [&](const auto& f) {  // not of biases
    for (Index first = 0; first < count; first += row) {
      for (Index i = first; i < first + row - 1; ++i) f(i);
    }
  };
  of_weights([&](Index i) { g[i] += options_.l2 * w[i]; });
  constexpr double inertia = 0.9;
  double step = options_.step;
  switch (options_.optimizer) {
    case Optimizer::sgd:
      for (Index i = 0; i < count; ++i) w[i] -= step * g[i];
      break;
    case Optimizer::lars: {
      constexpr double trust = 0.001;
      std::array<double, 2> norms{};
      of_weights([&](Index i) {
        norms[0] += w[i] * w[i];
        norms[1] += g[i] * g[i];
      });
      if (sharing_.parallelism() == Parallelism::model) {
        mpi::all_reduce(context_.comm(), std::span<double>(norms), mpi::Operation::sum());
      }
      if (norms[0] > 0 && norms[1] > 0) step *= trust * std::sqrt(norms[0]) / std::sqrt(norms[1]);
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

/// The parameters of all ranks, or what is kept of each.
std::vector<Parameters> Training::whole(const std::vector<Parameters>& own) const {
  if (sharing_.adds_up()) return own;
  std::vector<Parameters> all;
  for (const Parameters& each : own) {
    all.emplace_back(mpi::gather_on_all(context_.comm(), std::span<const double>(each)));
  }
  return all;
}

Network Training::network() const {
  return {network_.layers, whole(network_.parameters), network_.means, network_.scales};
}

void Training::save(iterate::Checkpoint& checkpoint) const {
  const auto keep = [&](const std::vector<Parameters>& own, const char* what) {
    const auto all = whole(own);
    for (std::size_t l = 0; l < all.size(); ++l) checkpoint.shared[fmt::format("{} {}", what, l)] = all[l];
  };
  keep(network_.parameters, "parameters");
  keep(first_, "first moments");
  keep(second_, "second moments");
  course_.save(checkpoint);
  checkpoint.numbers["steps"] = static_cast<double>(steps_);
}

void Training::resume(const iterate::Checkpoint& checkpoint) {
  mpi::agreed(context_, [&](mpi::Alike& alike) {
    iterate::name_arguments(checkpoint, alike);
    const auto take = [&](std::vector<Parameters>& into, const char* what, bool are_kept) {
      for (std::size_t l = 0; l < into.size(); ++l) {
        const auto& from = iterate::vector_of(checkpoint.shared, fmt::format("{} {}", what, l));
        const Layer& layer = network_.layers[l];
        const Index expected = are_kept ? layer.parameters() : 0;
        if (static_cast<Index>(from.size()) != expected) {
          throw ArgumentError(
              fmt::format("the state has {} {} in layer {}, expected {}", from.size(), what, l + 1, expected));
        }
        if (are_kept) into[l] = own_part(from, layer, sharing_.rows(static_cast<Index>(l), context_.rank()));
      }
    };
    take(network_.parameters, "parameters", true);
    take(first_, "first moments", options_.optimizer != Optimizer::sgd);
    take(second_, "second moments", options_.optimizer == Optimizer::adam);
    steps_ = static_cast<Index>(checkpoint.numbers.at("steps"));
    course_.resume(checkpoint);
  });
}

}  // namespace plait::learn
