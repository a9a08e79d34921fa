#include "plait/learn/network/training_options.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/base/rounding.hpp"
#include "plait/collective/algorithm/algorithms.hpp"
#include "plait/learn/objective.hpp"
#include "plait/mpi/agreed.hpp"

namespace plait::learn {

namespace {

bool can_be_reproducible(Parallelism parallelism) {
  return parallelism == Parallelism::data || parallelism == Parallelism::pipeline;
}

/// Words that a rank receives by a move: of boxes, those that it has not made.
Index words_of(const Sharing& sharing, const Sharing::Move& move, int rank) {
  const layout::Box whole = move.from.boxes.whole(), own = move.from.boxes.box(rank);
  if (move.to.is_whole) return whole.points() - own.points();
  if (move.from.is_whole) return (sharing.ranks() - 1) * own.points();
  const layout::Box target = move.to.boxes.box(rank).grown({0, move.to.ghosts, 0}).intersection(whole);
  return target.points() - target.intersection(own).points();
}

/// Of batches of so many samples, which go through a pipeline `grain` at a time.
Estimate estimate(mpi::Context& context, const Sharing& sharing, Index batch, Index grain) {
  constexpr double operations_a_second = 2e10;  // of a core, in products of doubles
  const bool is_pipeline = sharing.parallelism() == Parallelism::pipeline;
  const model::Machine& machine = context.machine();
  const model::Link& link = context.placement().nodes() > 1 ? machine.network : machine.node;
  const auto& stream = link.streams_of(context.placement().ranks_per_node).both_ways;
  const auto message = [&](Index words) {
    return words == 0 ? 0.0 : link.latency_seconds + stream.seconds(words * Index{sizeof(double)});
  };
  std::vector<Index> splits;
  for (int rank = 0; rank <= sharing.ranks(); ++rank) splits.push_back(batch * rank / sharing.ranks());
  const auto moves = sharing.all_moves(splits);
  // Parts of a batch follow each other through the stages of a pipeline.
  const Index parts = is_pipeline ? quotient_up(batch, grain) : 1;
  int stages = 0;
  Estimate its{.parallelism = sharing.parallelism()};
  for (int rank = 0; rank < sharing.ranks(); ++rank) {
    double operations = 0, communicating = 0;
    for (Index l = 0; l < sharing.count(); ++l) {
      const Layer ahead = sharing.part(l, rank), back = sharing.part_back(l, rank);
      const auto samples =
          static_cast<double>(sharing.samples(l, rank, splits[at(rank + 1)] - splits[at(rank)], batch));
      operations += 2 * samples * static_cast<double>(ahead.weights()) *
                    static_cast<double>(2 * ahead.places() + (l > 0 ? back.places() : 0));
    }
    stages += operations > 0 ? 1 : 0;
    for (const Sharing::Move& each : moves) {
      communicating += static_cast<double>(parts) * message(quotient_up(words_of(sharing, each, rank), parts));
    }
    its.computing_seconds = std::max(its.computing_seconds, operations / operations_a_second);
    its.communicating_seconds = std::max(its.communicating_seconds, communicating);
  }
  if (is_pipeline) {
    const double waiting = static_cast<double>(stages - 1) / static_cast<double>(parts);
    its.computing_seconds *= 1 + waiting;
    its.communicating_seconds *= 1 + waiting;
  }
  for (const Layer& layer : sharing.layers()) {
    if (!sharing.adds_up() || layer.parameters() == 0 || sharing.ranks() == 1) continue;
    const Index bytes = layer.parameters() * Index{sizeof(double)};
    its.communicating_seconds +=
        collective::choose<model::AllreduceAlgorithm>(context, context.placement(), bytes).seconds;
  }
  return its;
}

}  // namespace

Index words_received(const Sharing& sharing, int rank, std::span<const Index> splits) {
  Index words = 0;
  for (const Sharing::Move& each : sharing.all_moves(splits)) words += words_of(sharing, each, rank);
  return words;
}

const char* name(Optimizer optimizer) {
  return std::array{"sgd", "momentum", "adam", "lars"}[static_cast<std::size_t>(optimizer)];
}

std::vector<Estimate> estimates(mpi::Context& context, const std::vector<Layer>& layers,
                                const TrainingOptions& options) {
  std::vector<Estimate> found;
  for (const Parallelism each : all_parallelisms) {
    if (options.reproducible && !can_be_reproducible(each)) continue;
    if (each == Parallelism::data ? options.batch < context.size() : context.size() == 1) continue;
    if (!can_be_shared(layers, each)) continue;
    const Sharing sharing(layers, each, context.size());
    found.push_back(estimate(context, sharing, options.batch, grain_of(options, each, context.size())));
  }
  std::ranges::stable_sort(found, {}, [](const Estimate& each) { return each.seconds(); });
  return found;
}

Index grain_of(const TrainingOptions& options, Parallelism parallelism, Index ranks) {
  constexpr Index grains_of_stage = 4;
  if (options.reproducible) return std::clamp<Index>(options.batch / 8, 16, 64);
  return parallelism == Parallelism::pipeline ? quotient_up(options.batch, grains_of_stage * ranks) : options.batch;
}

TrainingOptions checked_training(const Samples& samples, const std::vector<Layer>& layers, TrainingOptions options) {
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
    alike.add("parallelism", options.parallelism);
    const auto expect = [](bool is_right, const char* what, auto value, const std::string& wanted) {
      if (!is_right) throw ArgumentError(fmt::format("{} is {}, expected {}", what, value, wanted));
    };
    expect(!layers.empty(), "the number of layers", layers.size(), "at least 1");
    expect(layers.front().in.size() == samples.dimension(), "the size of samples that the network takes",
           layers.front().in.size(), fmt::format("{}, as samples have so many columns", samples.dimension()));
    expect_step_and_l2(options.step, options.l2);
    expect(options.epochs >= 0, "the number of epochs", options.epochs, "at least 0");
    const int ranks = options.parallelism == Parallelism::data ? samples.context().size() : 1;
    const auto wanted = ranks == 1 ? "at least 1" : fmt::format("at least one for each of the {} ranks", ranks);
    expect(options.batch >= ranks, "the number of samples of a batch", options.batch, wanted);
    expect(samples.training() >= ranks, "the number of samples to learn from", samples.training(), wanted);
    if (options.reproducible && !can_be_reproducible(options.parallelism)) {
      throw ArgumentError(fmt::format(
          "the same bits on any number of ranks are wanted {} parallel, expected data parallel or a pipeline",
          name(options.parallelism)));
    }
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
    for (Index i = 0; tells_classes && i < samples.own().count(); ++i) {
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

}  // namespace plait::learn
