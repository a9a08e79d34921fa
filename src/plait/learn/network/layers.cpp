#include "plait/learn/network/layers.hpp"

#include <array>
#include <charconv>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "plait/base/error.hpp"

namespace plait::learn {

namespace {

constexpr std::array activations{Activation::identity, Activation::relu, Activation::tanh, Activation::sigmoid,
                                 Activation::softmax};

std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> words;
  while (true) {
    const auto end = text.find_first_of(separators);
    words.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return words;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string_view> words_of(std::string_view text) {
  auto words = split(text, " \t\n");
  std::erase(words, "");
  return words;
}

constexpr Index most_extent = Index{1} << 24;

/// "3x3x16" as numbers, none of them below 1 or above that.
std::optional<std::vector<Index>> extents_of(std::string_view text) {
  std::vector<Index> extents;
  for (const std::string_view part : split(text, "x")) {
    Index number = 0;
    const auto [end, failure] = std::from_chars(part.data(), part.data() + part.size(), number);
    if (failure != std::errc() || end != part.data() + part.size() || number < 1 || number > most_extent) return {};
    extents.push_back(number);
  }
  return extents;
}

Layer layer_of(const std::vector<std::string_view>& words, const Volume& in) {
  const auto refuse = [](const std::string& what) { throw ArgumentError(what); };
  constexpr std::string_view forms = "expected 'dense UNITS', 'conv HEIGHTxWIDTHxCHANNELS' or 'pool SIZE'";
  if (words.empty()) refuse(fmt::format("is empty, {}", forms));
  const auto extents = words.size() < 2 ? std::nullopt : extents_of(words[1]);
  const auto expect_extents = [&](std::size_t least, std::size_t most, std::string_view example) {
    if (extents && extents->size() >= least && extents->size() <= most) return;
    refuse(fmt::format("'{}' is no size, expected whole numbers from 1 to {} as in '{}'",
                       words.size() < 2 ? "" : words[1], most_extent, example));
  };
  Layer layer;
  layer.in = in;
  if (words[0] == "dense") {
    expect_extents(1, 1, "dense 128 relu");
    layer.out = {1, 1, (*extents)[0]};
  } else if (words[0] == "conv") {
    expect_extents(3, 3, "conv 3x3x16 relu");
    layer.kind = Layer::Kind::convolution;
    layer.height = (*extents)[0];
    layer.width = (*extents)[1];
    layer.above = (layer.height - 1) / 2;
    layer.out = {in.height, in.width, (*extents)[2]};
  } else if (words[0] == "pool") {
    expect_extents(1, 2, "pool 2");
    layer.kind = Layer::Kind::pool;
    layer.height = (*extents)[0];
    layer.width = extents->back();
    layer.out = {in.height / layer.height, in.width / layer.width, in.channels};
  } else {
    refuse(fmt::format("'{}' is unknown, {}", words[0], forms));
  }
  const bool is_dense = layer.kind == Layer::Kind::dense;
  if (!is_dense && (layer.height > in.height || layer.width > in.width)) {
    refuse(fmt::format("it looks at {}x{} places of an image of {}, expected at most as many as there are{}",
                       layer.height, layer.width, to_string(in),
                       in.height * in.width == 1 ? "; samples may be images of another size" : ""));
  }
  const std::size_t most_words = layer.kind == Layer::Kind::pool ? 2 : 3;
  if (words.size() > most_words) refuse(fmt::format("'{}' is too much", words[most_words]));
  if (words.size() == 3) {
    std::optional<Activation> found;
    for (const Activation each : activations) {
      if (words[2] == name(each)) found = each;
    }
    if (!found) {
      refuse(fmt::format("'{}' is unknown, expected relu, tanh, sigmoid, identity or softmax", words[2]));
    }
    layer.activation = *found;
  }
  constexpr double most = 0x1p40;
  const auto product = [](Index a, Index b) { return static_cast<double>(a) * static_cast<double>(b); };
  if (product(layer.outputs(), layer.inputs()) > most || product(in.height * in.width, layer.out.channels) > most) {
    refuse("it has more than 2^40 numbers, expected less");
  }
  return layer;
}

}  // namespace

const char* name(Activation activation) {
  return std::array{"identity", "relu", "tanh", "sigmoid", "softmax"}[static_cast<std::size_t>(activation)];
}

std::string to_string(const Volume& volume) {
  return fmt::format("{}x{}x{}", volume.height, volume.width, volume.channels);
}

Volume parse_volume(std::string_view text) {
  const auto extents = extents_of(text);
  if (extents && extents->size() == 2) return {(*extents)[0], (*extents)[1], 1};
  if (extents && extents->size() == 3) return {(*extents)[0], (*extents)[1], (*extents)[2]};
  throw ArgumentError(fmt::format("'{}' is no size of an image, expected one such as 28x28 or 32x32x3", text));
}

std::vector<Layer> parse_layers(std::string_view text, const Volume& input) {
  std::vector<Layer> layers;
  const auto pieces = split(text, ",");
  for (std::size_t l = 0; l < pieces.size(); ++l) {
    const auto words = words_of(pieces[l]);
    try {
      const bool is_last = l + 1 == pieces.size();
      layers.push_back(layer_of(words, layers.empty() ? input : layers.back().out));
      const Layer& layer = layers.back();
      if (layer.activation == Activation::softmax && (!is_last || layer.kind != Layer::Kind::dense)) {
        throw ArgumentError("softmax is there, expected it in a dense layer at the end only");
      }
      if (layer.activation == Activation::softmax && layer.outputs() < 2) {
        throw ArgumentError("it tells one class, expected two units or more");
      }
      if (is_last && layer.kind != Layer::Kind::dense) {
        throw ArgumentError("it is the last layer, expected a dense one there");
      }
    } catch (const ArgumentError& error) {
      throw ArgumentError(fmt::format("layer {}, '{}': {}", l + 1, fmt::join(words, " "), error.what()));
    }
  }
  return layers;
}

std::string to_string(const std::vector<Layer>& layers) {
  std::string text;
  for (const Layer& layer : layers) {
    text += text.empty() ? "" : ", ";
    switch (layer.kind) {
      case Layer::Kind::dense: text += fmt::format("dense {}", layer.outputs()); break;
      case Layer::Kind::convolution:
        text += fmt::format("conv {}x{}x{}", layer.height, layer.width, layer.outputs());
        break;
      case Layer::Kind::pool: text += fmt::format("pool {}x{}", layer.height, layer.width); break;
    }
    if (layer.activation != Activation::identity) text += fmt::format(" {}", name(layer.activation));
  }
  return text;
}

}  // namespace plait::learn
