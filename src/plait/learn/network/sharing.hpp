#pragma once

#include <array>
#include <span>
#include <utility>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/layout/box.hpp"
#include "plait/learn/network/layers.hpp"

namespace plait::learn {

/// What ranks share of the work on a batch.
enum class Parallelism : unsigned char {
  data,      ///< samples: each rank has all weights
  model,     ///< units of dense layers, channels of convolutions and pools: each rank has the weights of its own
  domain,    ///< rows of images, as far as there are enough; samples in the layers behind
  pipeline,  ///< layers: each rank has all of some, which take a part of the samples after the other
};
inline constexpr std::array all_parallelisms{Parallelism::data, Parallelism::model, Parallelism::domain,
                                             Parallelism::pipeline};
[[nodiscard]] const char* name(Parallelism parallelism);

/// Whether layers can be shared so: domain parallel, the first one has to make two rows of an image or more.
[[nodiscard]] bool can_be_shared(const std::vector<Layer>& layers, Parallelism parallelism);

/// Which numbers of a batch each rank has before or behind a layer: a box of samples x places x channels.
struct Spread {
  layout::BoxPartition boxes;
  Index ghosts = 0;       ///< places beyond its own on both sides
  bool is_whole = false;  ///< each has all, which `boxes` say who has made

  friend bool operator==(const Spread&, const Spread&) = default;
};

/// Which part of a network each rank computes. Local; the same on all ranks.
///
/// Layer l takes level l of the numbers and makes level l + 1; level 0 is the samples, and the loss takes the last one.
class Sharing {
 public:
  /// \throws ArgumentError  not `can_be_shared`
  Sharing(std::vector<Layer> layers, Parallelism parallelism, int ranks);
  /// All on one rank.
  explicit Sharing(std::vector<Layer> layers) : Sharing(std::move(layers), Parallelism::data, 1) {}

  [[nodiscard]] const std::vector<Layer>& layers() const noexcept { return layers_; }
  [[nodiscard]] Index count() const noexcept { return static_cast<Index>(layers_.size()); }
  [[nodiscard]] Parallelism parallelism() const noexcept { return parallelism_; }
  [[nodiscard]] int ranks() const noexcept { return ranks_; }

  /// The part of a layer that a rank computes, as a layer: of fewer channels, or of fewer rows, those of its input with
  /// ghosts.
  [[nodiscard]] Layer part(Index l, int rank) const;
  /// The same on the way back, where slopes have the ghosts instead.
  [[nodiscard]] Layer part_back(Index l, int rank) const;
  /// Places of ghosts of a layer.
  [[nodiscard]] Index ghosts(Index l) const;
  /// Of a batch that a layer gets on a rank that has `own` of `batch` samples; l = count(): the loss.
  [[nodiscard]] Index samples(Index l, int rank, Index own, Index batch) const;
  /// How many have work.
  [[nodiscard]] int working_ranks() const;
  /// Rows of a layer's W that a rank has.
  struct Rows {
    Index first = 0, count = 0;
  };
  [[nodiscard]] Rows rows(Index l, int rank) const;
  /// Whether all ranks have all weights, and add up their gradients.
  [[nodiscard]] bool adds_up() const {
    return parallelism_ == Parallelism::data || parallelism_ == Parallelism::domain;
  }

  /// How layer l makes its numbers of a batch, of which ranks have the samples between `splits`; l = -1: as they come.
  [[nodiscard]] Spread made(Index l, std::span<const Index> splits) const;
  /// How layer l takes its numbers; l = count(): the loss.
  [[nodiscard]] Spread taken(Index l, std::span<const Index> splits) const;

  /// What moves between ranks: numbers to layer l, slopes back from it, ghosts of slopes by what it makes.
  struct Move {
    enum class What : unsigned char { numbers, slopes, ghosts, targets };
    What what = What::numbers;
    Index l = 0;
    Spread from, to;
  };
  /// All that does in a step, or for a part of its samples.
  [[nodiscard]] std::vector<Move> all_moves(std::span<const Index> splits) const;
  /// Whether numbers move to layer l, and slopes back from it.
  [[nodiscard]] bool moves(Index l) const;
  [[nodiscard]] bool moves_back(Index l) const;
  /// Level 0 are samples.
  [[nodiscard]] Volume level(Index level) const { return level == 0 ? layer(0).in : layer(level - 1).out; }

 private:
  [[nodiscard]] const Layer& layer(Index l) const { return layers_[static_cast<std::size_t>(l)]; }
  [[nodiscard]] std::vector<Index> channels(Index level) const;
  void deal_rows();
  void deal_layers();
  [[nodiscard]] Spread cut(Index level, int axis, std::vector<Index> splits, Index batch) const;
  [[nodiscard]] Spread on_rank(Index level, int rank, Index batch) const;

  std::vector<Layer> layers_;
  Parallelism parallelism_;
  int ranks_;
  std::vector<std::vector<Index>> rows_;  // where the rows of ranks end, of the levels that are cut by rows
  std::vector<int> stages_;               // the rank of each layer
};

}  // namespace plait::learn
