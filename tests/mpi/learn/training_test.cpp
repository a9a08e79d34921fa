#include "plait/learn/network/training.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/base/random.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/context.hpp"
#include "plait/report/overlap.hpp"
#include "plait/report/trace.hpp"

#include "mpi/collective/streamed.hpp"
#include "mpi/learn/networks.hpp"
#include "mpi/learn/samples.hpp"
#include "support/message_of.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

using learn::Activation;
using learn::Model;
using learn::Optimizer;
using learn::Parallelism;
using learn::Parameters;
using learn::parse_layers;
using learn::Samples;
using learn::Training;
using learn::TrainingOptions;
using learn::Volume;
using ::testing::HasSubstr;

static_assert(iterate::Solver<Training>);

Data labelled_data(Index rows, Index columns, Index classes, std::uint64_t seed = 3) {
  Data data{rows, columns, {}, {}};
  for (Index i = 0; i < rows; ++i) {
    for (Index c = 0; c < columns; ++c) {
      data.x.push_back(
          std::ldexp(uniform(seed, i * columns + c) + 0.1 * static_cast<double>(c), static_cast<int>(c % 3)));
    }
    data.y.push_back(static_cast<double>((i + (data.x.back() > 0 ? 1 : 0)) % classes));
  }
  for (Index k = 0; k < classes; ++k) data.y[static_cast<std::size_t>(k)] = static_cast<double>(k);
  return data;
}

class LearnNetwork : public ::testing::Test {
 protected:
  std::vector<Parameters> train(mpi::Context& context, const Part& own, const Architecture& its,
                                const TrainingOptions& options) {
    const auto layers = parse_layers(its.layers, its.input);
    const Model model = layers.back().activation == Activation::softmax ? Model::logistic : Model::linear;
    const Samples samples(context, own.rows, own.targets, model, {0.2, 1});
    Training training(samples, layers, options);
    iterate::run(training);
    losses_ = training.losses();
    return training.network().parameters;
  }

  mpi::Context context_{test_comm()};
  mpi::Context alone_{MPI_COMM_SELF};
  std::vector<double> losses_;
};

TEST_F(LearnNetwork, batches_are_the_same_whoever_has_which_sample) {
  const Data data = labelled_data(61, 3, 2);
  const auto all_of = [&](mpi::Context& context, const Part& own, Index grain) {
    const Samples samples(context, own.rows, own.targets, Model::logistic, {0.1, 4});
    learn::Batches batches(samples, 14, grain, 9);
    std::vector<std::vector<double>> found;
    std::vector<Index> all;
    for (Index epoch = 0; epoch < 2; ++epoch) {
      batches.begin(epoch);
      Index count = 0;
      for (Index b = 0; b < batches.count(); ++b) {
        const auto part = batches.part(b);
        std::vector<double> numbers(static_cast<std::size_t>(part.rows.count() * 3));
        for (Index i = 0; i < part.rows.count(); ++i) part.rows.take(i, numbers.data() + 3 * i);
        auto gathered = mpi::gather_on_all(context.comm(), std::span<const double>(numbers));
        numbers.insert(numbers.end(), part.targets.begin(), part.targets.end());
        EXPECT_LE(part.rows.count(), batches.most_samples());
        count += batches.samples_of(b);
        const auto targets = mpi::gather_on_all(context.comm(), part.targets);
        EXPECT_EQ(static_cast<Index>(targets.size()), batches.samples_of(b));
        gathered.insert(gathered.end(), targets.begin(), targets.end());
        found.push_back(gathered);
      }
      EXPECT_EQ(count, samples.training());
    }
    EXPECT_NE(found.front(), found[found.size() / 2]);
    return found;
  };
  const auto expected = all_of(alone_, whole(data), 1);
  for (const Split split : {Split::even, Split::ragged, Split::last}) {
    for (const Index grain : {1, 4, 100}) EXPECT_EQ(all_of(context_, part(data, split), grain), expected);
  }
}

TEST_F(LearnNetwork,
       is_trained_to_the_same_parameters_up_to_rounding_by_any_ranks_and_to_the_same_bits_if_reproducible) {
  for (const Architecture& its : architectures) {
    for (const Optimizer optimizer : {Optimizer::sgd, Optimizer::momentum, Optimizer::adam, Optimizer::lars}) {
      if (optimizer != Optimizer::adam && &its != &architectures[3]) continue;
      const Data data = labelled_data(150, its.input.size(), 3);
      for (const bool reproducible : {false, true}) {
        const TrainingOptions options{
            .optimizer = optimizer, .batch = 37, .epochs = 2, .seed = 5, .reproducible = reproducible};
        const auto expected = train(alone_, whole(data), its, options);
        const auto losses = losses_;
        for (const Split split : {Split::even, Split::ragged, Split::last}) {
          const auto found = train(context_, part(data, split), its, options);
          if (reproducible) {
            EXPECT_EQ(found, expected) << its.layers << ", " << name(optimizer);
            EXPECT_EQ(losses_, losses);
            continue;
          }
          for (std::size_t l = 0; l < found.size(); ++l) {
            for (Index i = 0; i < found[l].count(); ++i)
              ASSERT_NEAR(found[l][i], expected[l][i], 1e-12) << its.layers << ", " << name(optimizer);
          }
          EXPECT_NEAR(losses_.back(), losses.back(), 1e-12);
        }
      }
    }
  }
}

// Fewer units, channels, rows, layers and samples than ranks, and more; windows of even and odd sides.
const std::vector<Architecture> shared_architectures{
    {"dense 2 tanh, dense 11 relu, dense 3 softmax", {1, 1, 4}},
    {"dense 1", {1, 1, 5}},
    {"conv 3x3x2 relu, pool 2, conv 2x1x3 tanh, dense 3 softmax", {5, 7, 2}},
    {"pool 1x2, conv 5x3x7 sigmoid, conv 4x2x1, pool 3, dense 4 relu, dense 1", {13, 6, 1}},
    {"conv 7x1x3, conv 3x3x2 tanh, dense 5 sigmoid, conv 1x1x3, dense 3 softmax", {8, 3, 2}},
};

Architecture random_architecture(std::uint64_t seed) {
  std::uint64_t drawn = 0;
  const auto draw = [&](Index least, Index most) {
    return least + static_cast<Index>(random_bits(seed, ++drawn) % static_cast<std::uint64_t>(most - least + 1));
  };
  constexpr std::array activations{"identity", "relu", "tanh", "sigmoid"};
  const auto activation = [&] { return activations[static_cast<std::size_t>(draw(0, 3))]; };
  const Volume image{draw(2, 14), draw(1, 6), draw(1, 3)};
  std::string text;
  Volume at = image;
  for (Index l = draw(1, 3); l > 0; --l) {
    const Index height = draw(1, std::min<Index>(at.height, 5)), width = draw(1, std::min<Index>(at.width, 3));
    if (draw(0, 2) == 0 && at.height >= 2 * height) {
      text += fmt::format("pool {}x{}, ", height, width);
      at = {at.height / height, at.width / width, at.channels};
    } else {
      text += fmt::format("conv {}x{}x{} {}, ", height, width, draw(1, 6), activation());
    }
  }
  for (Index l = draw(0, 2); l > 0; --l) text += fmt::format("dense {} {}, ", draw(1, 9), activation());
  return {text + "dense 3 softmax", image};
}

TEST_F(LearnNetwork, is_trained_to_the_same_parameters_however_ranks_share_the_work) {
  std::vector<Architecture> architectures = shared_architectures;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) architectures.push_back(random_architecture(seed));
  for (const Architecture& its : architectures) {
    const Data data = labelled_data(24, its.input.size(), 3);
    for (const Index batch : {24, 9, 2}) {
      if (&its >= &architectures[shared_architectures.size()] && batch != 9) continue;
      const Optimizer optimizer = batch == 9 ? Optimizer::adam : Optimizer::lars;
      TrainingOptions options{.optimizer = optimizer, .batch = batch, .epochs = 1, .seed = 5};
      const auto expected = train(alone_, whole(data), its, options);
      const auto losses = losses_;
      for (const Parallelism parallelism : {Parallelism::model, Parallelism::domain, Parallelism::pipeline}) {
        if (parallelism == Parallelism::domain && its.layers[0] == 'd') continue;
        options.parallelism = parallelism;
        const auto found = train(context_, part(data, Split::ragged), its, options);
        const auto where =
            fmt::format("{}: {}, {}, batches of {}", name(parallelism), its.layers, name(optimizer), batch);
        for (std::size_t l = 0; l < found.size(); ++l) {
          ASSERT_EQ(found[l].size(), expected[l].size());
          for (Index i = 0; i < found[l].count(); ++i) ASSERT_NEAR(found[l][i], expected[l][i], 1e-12) << where;
        }
        EXPECT_NEAR(losses_.back(), losses.back(), 1e-12) << where;
      }
      options.reproducible = true;
      options.parallelism = Parallelism::data;
      const auto same = train(alone_, whole(data), its, options);
      options.parallelism = Parallelism::pipeline;
      EXPECT_EQ(train(context_, part(data, Split::last), its, options), same) << its.layers;
    }
  }
}

// The literature's formulas, of one step on all ranks.
TEST_F(LearnNetwork, sends_as_many_words_as_the_formula_of_its_parallelism_says) {
  constexpr Index batch = 20, rows = 10, width = 4, in = 2;
  const Data data = labelled_data(batch, rows * width * in, 3);
  const Index p = ranks();
  const auto part_of = [&](Index all, Index r) { return all * (r + 1) / p - all * r / p; };
  const auto words = [&](const char* label) {
    const Traffic received = exchanged(context_, label).received;
    return mpi::all_reduce(context_.comm(), received.bytes, mpi::Operation::sum()) / Index{sizeof(double)};
  };
  // What stays where it is when a batch that is cut by samples is cut along another axis, and the reverse.
  const auto kept = [&](Index length, Index others) {
    Index sum = 0;
    for (Index r = 0; r < p; ++r) sum += part_of(batch, r) * part_of(length, r) * others;
    return sum;
  };
  const auto step = [&](const char* text, Parallelism parallelism) {
    const auto own = part(data, Split::even);
    const Samples samples(context_, own.rows, own.targets, Model::logistic);
    Training training(samples, parse_layers(text, {rows, width, in}),
                      {.batch = batch, .epochs = 1, .parallelism = parallelism});
    context_.counters().clear();
    training.advance();
    const std::vector<Index> splits = [&] {
      std::vector<Index> all{0};
      for (Index r = 0; r < p; ++r) all.push_back(all.back() + part_of(batch, r));
      return all;
    }();
    const Index predicted = learn::words_received(training.sharing(), rank(), splits);
    return mpi::all_reduce(context_.comm(), predicted, mpi::Operation::sum());
  };
  {
    const Index predicted = step("dense 7 relu, dense 12 tanh, dense 3 softmax", Parallelism::model);
    EXPECT_EQ(words("all_gather"), (p - 1) * batch * (rows * width * in + 7 + 12));
    EXPECT_EQ(words("reduce_scatter"), (p - 1) * batch * (7 + 12));
    EXPECT_EQ(words("activations"), p == 1 ? 0 : batch * 3 - kept(3, 1));
    EXPECT_EQ(words("slopes"), words("activations"));
    EXPECT_EQ(predicted, words("all_gather") + words("reduce_scatter") + 2 * words("activations"));
  }
  {
    const Index predicted = step("conv 3x3x6 relu, conv 5x3x8 tanh, dense 3 softmax", Parallelism::domain);
    const Index inner_sides = 2 * (p - 1);
    Index samples = 0;  // and what ranks have of those that they get
    for (Index r = 0; r < p; ++r) {
      const Index with_ghosts = part_of(rows, r) + (r > 0 ? 1 : 0) + (r + 1 < p ? 1 : 0);
      samples += (batch - part_of(batch, r)) * with_ghosts * width * in;
    }
    const Index to_dense = batch * rows * width * 8 - kept(rows, width * 8);
    EXPECT_EQ(words("activations"), p == 1 ? 0 : samples + inner_sides * batch * width * 6 * (5 / 2) + to_dense);
    EXPECT_EQ(words("slopes"), p == 1 ? 0 : inner_sides * batch * width * 8 * (5 / 2) + to_dense);
    EXPECT_EQ(predicted, words("activations") + words("slopes"));
  }
  {
    const Index predicted = step("dense 7 relu, dense 7 relu, dense 3 softmax", Parallelism::pipeline);
    const Index stages = std::min<Index>(p, 2);  // the first layer has most of the work
    const Index samples = p == 1 ? 0 : (batch - part_of(batch, 0)) * rows * width * in;
    const Index labels = p == 1 ? 0 : batch - part_of(batch, 1);
    EXPECT_EQ(words("activations"), samples + labels + (stages - 1) * batch * 7);
    EXPECT_EQ(words("slopes"), (stages - 1) * batch * 7);
    EXPECT_EQ(predicted, words("activations") + words("slopes") - labels);
  }
}

// One step of each optimizer on a single weight, as its definition says.
TEST_F(LearnNetwork, takes_the_steps_of_its_optimizer) {
  const Data data{2, 1, {-1, 1}, {0.5, 2.5}};  // of mean 0 and deviation 1, targets of mean 1.5 and deviation 1
  for (const Optimizer optimizer : {Optimizer::sgd, Optimizer::momentum, Optimizer::adam, Optimizer::lars}) {
    const Samples samples(alone_, whole(data).rows, data.y, Model::linear);
    const TrainingOptions options{.optimizer = optimizer, .step = 0.25, .l2 = 0.5, .batch = 2, .epochs = 3};
    const auto layers = parse_layers("dense 1", {1, 1, 1});
    Training training(samples, layers, options);
    double w = training.network().parameters[0][0], v = 0, squares = 0;
    for (int t = 1; t <= 3; ++t) {
      const double g = (w - 1) + 0.5 * w;  // of ½ (w - 1)² + ¼ w², as both samples lie on z = x
      v = 0.9 * v + (optimizer == Optimizer::adam   ? 0.1
                     : optimizer == Optimizer::lars ? 0.25 * 0.001 * std::abs(w / g)
                                                    : 0.25) *
                        g;
      squares = 0.999 * squares + 0.001 * g * g;
      if (optimizer == Optimizer::sgd) w -= 0.25 * g;
      if (optimizer == Optimizer::momentum || optimizer == Optimizer::lars) w -= v;
      if (optimizer == Optimizer::adam)
        w -= 0.25 * v / (1 - std::pow(0.9, t)) / (std::sqrt(squares / (1 - std::pow(0.999, t))) + 1e-8);
      training.advance();
      EXPECT_NEAR(training.network().parameters[0][0], w, 1e-14) << name(optimizer) << ", step " << t;
      EXPECT_NEAR(training.network().parameters[0][1], 0, 1e-14);
    }
  }
}

TEST_F(LearnNetwork, goes_on_from_a_checkpoint_with_the_same_bits) {
  const Architecture its{"dense 5 relu, dense 3 softmax", {1, 1, 4}};
  const Data data = labelled_data(200, 4, 3);
  const auto layers = parse_layers(its.layers, its.input);
  const auto own = part(data, Split::even);
  const Samples samples(context_, own.rows, own.targets, Model::logistic);
  for (const Optimizer optimizer : {Optimizer::sgd, Optimizer::momentum, Optimizer::adam, Optimizer::lars}) {
    const TrainingOptions options{.optimizer = optimizer, .batch = 32, .epochs = 5};
    Training through(samples, layers, options);
    iterate::run(through);
    Training first(samples, layers, options);
    for (int epoch = 0; epoch < 3; ++epoch) first.advance();
    iterate::Checkpoint checkpoint;
    first.save(checkpoint);
    Training second(samples, layers, options);
    second.resume(checkpoint);
    EXPECT_EQ(second.state().step, 3);
    iterate::run(second);
    EXPECT_EQ(second.network().parameters, through.network().parameters) << name(optimizer);
    EXPECT_EQ(second.losses(), through.losses());
    Training other(samples, parse_layers("dense 6 relu, dense 3 softmax", its.input), options);
    EXPECT_THAT(message_of<ArgumentError>([&] { other.resume(checkpoint); }),
                HasSubstr("the state has 25 parameters in layer 1, expected 30"));
  }
}

TEST_F(LearnNetwork, finds_classes_that_no_line_parts_and_a_curve) {
  Data rings{600, 2, {}, {}}, curve{400, 1, {}, {}};
  for (Index i = 0; i < rings.rows; ++i) {
    const double x = uniform(1, 2 * i), y = uniform(1, 2 * i + 1);
    rings.x.insert(rings.x.end(), {x, y});
    rings.y.push_back(x * x + y * y < 0.6 ? 1 : 0);
  }
  for (Index i = 0; i < curve.rows; ++i) {
    curve.x.push_back(uniform(2, i));
    curve.y.push_back(10 + 5 * std::sin(4 * curve.x.back()));
  }
  for (const auto& [data, text] :
       {std::pair{rings, "dense 16 tanh, dense 2 softmax"}, std::pair{curve, "dense 24 tanh, dense 1"}}) {
    const auto layers = parse_layers(text, {1, 1, data.columns});
    const auto own = part(data, Split::ragged);
    const Samples samples(context_, own.rows, own.targets, data.columns == 2 ? Model::logistic : Model::linear,
                          {0.25, 1});
    Training training(samples, layers, {.step = 0.05, .l2 = 0, .batch = 64, .epochs = 40});
    iterate::run(training);
    EXPECT_GT(training.network().quality(samples).held_out, 0.94) << text;
    EXPECT_EQ(training.state().end, iterate::End::finished);
    EXPECT_LT(training.losses().back(), training.losses().front() / 3);
  }
}

TEST_F(LearnNetwork, refuses_what_does_not_fit_together_on_all_ranks) {
  const Data data = labelled_data(40, 4, 3);
  const auto own = part(data, Split::even);
  const Samples samples(context_, own.rows, own.targets, Model::logistic);
  const auto expect = [&](const char* text, const TrainingOptions& options, const std::string& words,
                          Index columns = 4) {
    EXPECT_THAT(message_of<ArgumentError>(([&] { Training(samples, parse_layers(text, {1, 1, columns}), options); })),
                HasSubstr(words));
  };
  expect("dense 2 softmax", {}, "(counted from 0), expected classes from 0 to 1, one for each unit of the last layer");
  expect("dense 2 softmax", {}, "the labels have 2 in row 2 ");
  expect("dense 1", {}, "expected classes where the network ends in a softmax, else numbers");
  expect("dense 3 softmax", {}, "the size of samples that the network takes is 5, expected 4", 5);
  expect("dense 3 softmax", {.step = -1}, "the step is -1, expected a number from 0");
  expect("dense 3 softmax", {.epochs = -1}, "the number of epochs is -1, expected at least 0");
  expect("dense 3 softmax", {.batch = 0},
         ranks() == 1 ? "the number of samples of a batch is 0, expected at least 1"
                      : fmt::format("a batch is 0, expected at least one for each of the {} ranks", ranks()));
  expect("dense 3 softmax", {.parallelism = Parallelism::domain},
         "the first layer is dense, of samples of 1x1x4; expected a convolution");
  expect("dense 3 softmax", {.reproducible = true, .parallelism = Parallelism::model},
         "are wanted model parallel, expected data parallel or a pipeline");
  const Samples numbers(context_, own.rows, own.targets, Model::linear);
  EXPECT_THAT(message_of<ArgumentError>(([&] { Training(numbers, parse_layers("dense 2", {1, 1, 4}), {}); })),
              HasSubstr("the number of units of the last layer is 2, expected 1"));
  if (ranks() > 1) {
    expect("dense 3 softmax", {.batch = ranks() - 1}, "expected at least one for each of the");
    expect("dense 3 softmax", {.seed = static_cast<std::uint64_t>(rank())}, "seed: is ");
  }
}

TEST_F(LearnNetwork, tells_in_a_trace_when_it_computed) {
  const Data data = labelled_data(80, 12, 3);
  const auto own = part(data, Split::even);
  const Samples samples(context_, own.rows, own.targets, Model::logistic);
  for (const Parallelism parallelism : learn::all_parallelisms) {
    Training training(samples, parse_layers("conv 2x2x2 relu, dense 3 softmax", {4, 3, 1}),
                      {.batch = 40, .epochs = 1, .parallelism = parallelism});
    report::Tracing tracing(context_);
    iterate::run(training);
    const report::Trace trace = tracing.gather();
    for (const report::RankTrace& each : trace.ranks) {
      EXPECT_EQ(std::ranges::count(each.recording.runs, "products", &TimedRun::label), 2);
    }
    EXPECT_EQ(report::overlap_of(trace).sum().computing > 0, rank() == 0);
  }
}

TEST_F(LearnNetwork, tells_the_layer_and_the_step_where_numbers_leave_their_range) {
  const Data data = labelled_data(80, 4, 3);
  const auto own = part(data, Split::even);
  const Samples samples(context_, own.rows, own.targets, Model::linear);
  for (const bool reproducible : {false, true}) {
    Training training(samples, parse_layers("dense 8 relu, dense 8 relu, dense 1", {1, 1, 4}),
                      {.optimizer = Optimizer::sgd, .step = 1e60, .batch = 20, .reproducible = reproducible});
    EXPECT_THAT(message_of<ArgumentError>([&] { iterate::run(training); }),
                AllOf(HasSubstr("the loss is no finite number in step "), HasSubstr("(epoch 1), as numbers of layer "),
                      HasSubstr("the step is 1e+60, expected a smaller one")));
  }
}

}  // namespace
}  // namespace plait::test
