#include "plait/learn/network/pass.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/learn/network/batches.hpp"
#include "plait/learn/network/network.hpp"

#include "mpi/learn/networks.hpp"
#include "support/message_of.hpp"

namespace plait::test {
namespace {

using learn::Activation;
using learn::Layer;
using learn::Parameters;
using learn::parse_layers;
using learn::Pass;
using learn::Volume;
using ::testing::HasSubstr;

// What a network makes of a sample, number by number, as its definition says.
std::vector<double> naive(const std::vector<Layer>& layers, const std::vector<Parameters>& parameters,
                          std::vector<double> x) {
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const Layer& layer = layers[l];
    const Volume in = layer.in, out = layer.out;
    std::vector<double> a(static_cast<std::size_t>(out.size()));
    for (Index y = 0; y < out.height; ++y) {
      for (Index z = 0; z < out.width; ++z) {
        for (Index c = 0; c < out.channels; ++c) {
          double value = 0;
          if (layer.kind == Layer::Kind::dense) {
            for (Index i = 0; i < in.size(); ++i)
              value += parameters[l][c * (in.size() + 1) + i] * x[static_cast<std::size_t>(i)];
            value += parameters[l][c * (in.size() + 1) + in.size()];
          } else if (layer.kind == Layer::Kind::pool) {
            value = -HUGE_VAL;
            for (Index i = 0; i < layer.height; ++i) {
              for (Index j = 0; j < layer.width; ++j) {
                const Index place = ((y * layer.height + i) * in.width + z * layer.width + j) * in.channels + c;
                value = std::max(value, x[static_cast<std::size_t>(place)]);
              }
            }
          } else {
            const Index size = layer.height * layer.width * in.channels;
            for (Index i = 0; i < layer.height; ++i) {
              for (Index j = 0; j < layer.width; ++j) {
                const Index row = y + i - (layer.height - 1) / 2, column = z + j - (layer.width - 1) / 2;
                if (row < 0 || row >= in.height || column < 0 || column >= in.width) continue;
                for (Index k = 0; k < in.channels; ++k) {
                  value += parameters[l][c * (size + 1) + (i * layer.width + j) * in.channels + k] *
                           x[static_cast<std::size_t>((row * in.width + column) * in.channels + k)];
                }
              }
            }
            value += parameters[l][c * (size + 1) + size];
          }
          if (layer.activation == Activation::relu) value = std::max(value, 0.0);
          if (layer.activation == Activation::tanh) value = std::tanh(value);
          if (layer.activation == Activation::sigmoid) value = 1 / (1 + std::exp(-value));
          a[static_cast<std::size_t>((y * out.width + z) * out.channels + c)] = value;
        }
      }
    }
    if (layer.activation == Activation::softmax) {
      double sum = 0;
      for (double& each : a) sum += each = std::exp(each);
      for (double& each : a) each /= sum;
    }
    x = a;
  }
  return x;
}

double naive_loss(const std::vector<Layer>& layers, const std::vector<Parameters>& parameters,
                  const std::vector<double>& samples, const std::vector<double>& targets) {
  const auto size = static_cast<std::size_t>(layers.front().in.size());
  double sum = 0;
  for (std::size_t s = 0; s < targets.size(); ++s) {
    const auto first = samples.begin() + static_cast<std::ptrdiff_t>(s * size);
    const auto a = naive(layers, parameters, {first, first + static_cast<std::ptrdiff_t>(size)});
    const bool tells_classes = layers.back().activation == Activation::softmax;
    sum += tells_classes ? -std::log(a[static_cast<std::size_t>(targets[s])])
                         : (a[0] - targets[s]) * (a[0] - targets[s]) / 2;
  }
  return sum;
}

TEST(Pass, makes_what_the_definition_says_and_its_gradients_are_differences_of_the_loss) {
  constexpr Index samples = 5;
  for (const auto& [text, input] : architectures) {
    const auto layers = parse_layers(text, input);
    std::vector<double> x, targets;
    for (Index i = 0; i < samples * input.size(); ++i) x.push_back(uniform(1, i));
    for (Index s = 0; s < samples; ++s) targets.push_back(static_cast<double>(s % 2));
    auto parameters = learn::random_parameters(layers, 5);
    for (Parameters& each : parameters) {
      for (Index i = 0; i < each.count(); ++i) each[i] += 0.1 * uniform(8, i);
    }
    Pass pass(layers, samples);
    std::ranges::copy(x, pass.input());
    pass.forward(parameters, {0, 2});
    pass.forward(parameters, {2, 3});
    for (Index s = 0; s < samples; ++s) {
      const auto first = x.begin() + s * input.size();
      const auto expected = naive(layers, parameters, {first, first + input.size()});
      ASSERT_EQ(pass.output(s).size(), expected.size());
      for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(pass.output(s)[i], expected[i], 1e-13) << text;
    }
    simd::ExactSum loss;
    pass.losses(targets, 1, {0, samples}, loss);
    EXPECT_NEAR(loss.rounded<double>(), naive_loss(layers, parameters, x, targets), 1e-12) << text;
    pass.through(static_cast<Index>(layers.size()) - 1, {0, samples});
    for (Index l = static_cast<Index>(layers.size()) - 1; l >= 0; --l) {
      const Index count = layers[static_cast<std::size_t>(l)].parameters();
      std::vector<double> gradient(static_cast<std::size_t>(count), 7), part(gradient), rest(gradient);
      pass.gradient(l, {0, samples}, gradient);
      pass.gradient(l, {0, 1}, part);
      pass.gradient(l, {1, samples - 1}, rest);
      for (Index i = 0; i < count; ++i) {
        constexpr double step = 0x1p-17;
        auto near = parameters;
        near[static_cast<std::size_t>(l)][i] += step;
        const double above = naive_loss(layers, near, x, targets);
        near[static_cast<std::size_t>(l)][i] -= 2 * step;
        const double difference = (above - naive_loss(layers, near, x, targets)) / (2 * step);
        const double own = gradient[static_cast<std::size_t>(i)];
        EXPECT_NEAR(own, difference, 1e-6 * (1 + std::abs(difference))) << text << ", layer " << l + 1 << ", " << i;
        EXPECT_NEAR(part[static_cast<std::size_t>(i)] + rest[static_cast<std::size_t>(i)], own, 1e-13);
        EXPECT_LE(std::abs(own), samples * pass.bound(l, {0, samples})) << text;
      }
      if (l == 0) continue;
      pass.back(parameters[static_cast<std::size_t>(l)], l, {0, samples});
      pass.through(l - 1, {0, samples});
    }
  }
}

TEST(Layers, are_what_the_text_says_and_wrong_ones_are_named) {
  const auto layers = parse_layers(" conv 3x3x16  relu,pool 2, dense 10 softmax", {28, 27, 3});
  EXPECT_EQ(layers[0].out, (Volume{28, 27, 16}));
  EXPECT_EQ(layers[1].out, (Volume{14, 13, 16}));
  EXPECT_EQ(layers[0].parameters(), 16 * (3 * 3 * 3 + 1));
  EXPECT_EQ(layers[2].parameters(), 10 * (14 * 13 * 16 + 1));
  EXPECT_EQ(parse_layers(to_string(layers), {28, 27, 3}), layers);
  const auto expect = [](const char* text, const char* words) {
    EXPECT_THAT(message_of<ArgumentError>([&] { return parse_layers(text, {4, 4, 1}); }), HasSubstr(words));
  };
  expect("", "layer 1, '': is empty, expected 'dense UNITS'");
  expect("dense 3,", "layer 2, '': is empty");
  expect("dense 3, sparse 4", "layer 2, 'sparse 4': 'sparse' is unknown, expected 'dense UNITS'");
  expect("dense", "layer 1, 'dense': '' is no size, expected whole numbers from 1 to 16777216 as in 'dense 128 relu'");
  expect("dense 0", "'0' is no size");
  expect("dense 3.5", "'3.5' is no size");
  expect("dense 3x3", "'3x3' is no size");
  expect("dense 99999999999999999999", "is no size");
  expect("dense 16777217", "'16777217' is no size, expected whole numbers from 1 to 16777216 as in 'dense 128 relu'");
  expect("conv 3x3 relu, dense 2",
         "'3x3' is no size, expected whole numbers from 1 to 16777216 as in 'conv 3x3x16 relu'");
  expect("conv 5x3x1, dense 2", "it looks at 5x3 places of an image of 4x4x1");
  expect("pool 2, pool 2, pool 2, dense 2", "layer 3, 'pool 2': it looks at 2x2 places of an image of 1x1x1");
  expect("pool 2 relu, dense 2", "'relu' is too much");
  expect("dense 3 elu", "'elu' is unknown, expected relu, tanh");
  expect("dense 3 softmax, dense 3",
         "layer 1, 'dense 3 softmax': softmax is there, expected it in a dense layer at the end");
  expect("dense 1 softmax", "it tells one class, expected two units or more");
  expect("pool 2", "it is the last layer, expected a dense one there");
  expect("conv 1x1x16777216, conv 4x4x16777216, dense 2", "it has more than 2^40 numbers");
}

TEST(Shuffle, is_an_order_of_all) {
  for (const Index count : {1, 2, 3, 4, 5, 16, 17, 100, 1000}) {
    for (const std::uint64_t seed : {0U, 1U, 77U}) {
      const learn::Shuffle shuffle(count, seed);
      std::vector<Index> seen;
      for (Index i = 0; i < count; ++i) {
        seen.push_back(shuffle.place_of(i));
      }
      if (count >= 100) {
        EXPECT_FALSE(std::ranges::is_sorted(seen));
      }
      std::ranges::sort(seen);
      for (Index i = 0; i < count; ++i) ASSERT_EQ(seen[static_cast<std::size_t>(i)], i);
    }
  }
}

}  // namespace
}  // namespace plait::test
