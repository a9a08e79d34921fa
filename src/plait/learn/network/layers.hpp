#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plait/base/index.hpp"

namespace plait::learn {

enum class Activation : unsigned char {
  identity,
  relu,  ///< max(z, 0)
  tanh,
  sigmoid,  ///< 1/(1 + exp -z)
  softmax,  ///< exp z / Σ exp z: probabilities of classes
};
[[nodiscard]] const char* name(Activation activation);

/// The numbers of a sample as an image: those of a place lie side by side, then places of a row, then rows.
struct Volume {
  Index height = 1, width = 1, channels = 1;

  [[nodiscard]] Index size() const noexcept { return height * width * channels; }
  friend bool operator==(const Volume&, const Volume&) = default;
};
/// "28x28x1"
[[nodiscard]] std::string to_string(const Volume& volume);
/// The inverse, where a single channel may be left out.
/// \throws ArgumentError
[[nodiscard]] Volume parse_volume(std::string_view text);

/// One layer of a network: what is made of a sample's numbers, a = f(W x + b).
///
/// A convolution does so with what lies around each place of an image, zeros beyond its sides, and gives as many
/// channels as W has rows. x are `height` rows of `width` places then. A pool has no weights: it takes the largest
/// number of each channel in windows side by side, and leaves out what is left of a window at the far sides.
struct Layer {
  enum class Kind : unsigned char { dense, convolution, pool };
  Kind kind = Kind::dense;
  Activation activation = Activation::identity;
  Volume in, out;
  Index height = 1, width = 1;  ///< of what x are, or of a window
  Index above = 0;              ///< rows of x that lie above its place

  /// The shape of W.
  [[nodiscard]] Index outputs() const noexcept { return kind == Kind::dense ? out.size() : out.channels; }
  [[nodiscard]] Index inputs() const noexcept { return kind == Kind::dense ? in.size() : height * width * in.channels; }
  /// How often it is applied to a sample.
  [[nodiscard]] Index places() const noexcept { return kind == Kind::dense ? 1 : out.height * out.width; }
  [[nodiscard]] Index weights() const noexcept { return kind == Kind::pool ? 0 : outputs() * inputs(); }
  [[nodiscard]] Index parameters() const noexcept { return kind == Kind::pool ? 0 : outputs() * (inputs() + 1); }

  friend bool operator==(const Layer&, const Layer&) = default;
};

/// Layers one after the other, as "conv 3x3x16 relu, pool 2, dense 10 softmax" has them: `dense UNITS`, `conv
/// HEIGHTxWIDTHxCHANNELS` and `pool SIZE` or `pool HEIGHTxWIDTH`, the first two with an activation if it is not the
/// identity.
///
/// \throws ArgumentError  naming the layer and its words: unknown ones, numbers below 1, windows that are larger than
///                        the image, a softmax before the end or of one class, more than 2^40 numbers, no dense layer
///                        at the end
[[nodiscard]] std::vector<Layer> parse_layers(std::string_view text, const Volume& input);

/// The inverse.
[[nodiscard]] std::string to_string(const std::vector<Layer>& layers);

}  // namespace plait::learn
