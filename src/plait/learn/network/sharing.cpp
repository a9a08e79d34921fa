#include "plait/learn/network/sharing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"

namespace plait::learn {

namespace {

std::vector<Index> even_splits(Index count, int parts) {
  std::vector<Index> splits;
  for (int part = 0; part <= parts; ++part) splits.push_back(count * part / parts);
  return splits;
}

}  // namespace

const char* name(Parallelism parallelism) {
  return std::array{"data", "model", "domain", "pipeline"}[static_cast<std::size_t>(parallelism)];
}

bool can_be_shared(const std::vector<Layer>& layers, Parallelism parallelism) {
  return parallelism != Parallelism::domain ||
         (layers.front().kind != Layer::Kind::dense && layers.front().out.height > 1);
}

Sharing::Sharing(std::vector<Layer> layers, Parallelism parallelism, int ranks)
    : layers_(std::move(layers)), parallelism_(parallelism), ranks_(ranks) {
  if (parallelism == Parallelism::domain) deal_rows();
  if (parallelism == Parallelism::pipeline) deal_layers();
  if (ranks > 1) return;
  rows_.clear();
  parallelism_ = Parallelism::data;
}

// Ranks have whole windows of pools, so that these need nothing of each other.
void Sharing::deal_rows() {
  const Layer& first = layers_.front();
  if (!can_be_shared(layers_, parallelism_)) {
    throw ArgumentError(fmt::format(
        "domain parallel training cuts images by rows, but the first layer is {} of {}; expected a convolution "
        "or a pool that makes two rows or more",
        first.kind == Layer::Kind::dense ? "dense, of samples" : "one", to_string(first.in)));
  }
  const Index enough = std::min<Index>(ranks_, first.out.height);
  Index stem = 0;
  while (layer(stem).kind != Layer::Kind::dense && layer(stem).out.height >= enough) ++stem;
  rows_.assign(at(stem + 1), even_splits(level(stem).height, ranks_));
  for (Index l = stem - 1; l >= 0; --l) {
    auto& splits = rows_[at(l)] = rows_[at(l + 1)];
    if (layer(l).kind == Layer::Kind::pool) {
      for (Index& each : splits) each *= layer(l).height;
    }
    splits.back() = level(l).height;
  }
}

// Consecutive layers, such that the rank with most to multiply has least.
void Sharing::deal_layers() {
  std::vector<double> work;
  for (const Layer& each : layers_) {
    work.push_back(static_cast<double>(each.weights()) * static_cast<double>(each.places()) +
                   static_cast<double>(each.out.size()));
  }
  const auto deal = [&](double most) {
    int rank = 0;
    double sum = 0;
    stages_.clear();
    for (const double each : work) {
      if (sum > 0 && sum + each > most) sum = 0, ++rank;
      sum += each;
      stages_.push_back(rank);
    }
    return rank < ranks_;
  };
  double most = HUGE_VAL;
  for (std::size_t i = 0; i < work.size(); ++i) {
    double sum = 0;
    for (std::size_t j = i; j < work.size(); ++j) {
      sum += work[j];
      if (sum < most && sum >= *std::ranges::max_element(work) && deal(sum)) most = sum;
    }
  }
  static_cast<void>(deal(most));
}

std::vector<Index> Sharing::channels(Index of_level) const { return even_splits(level(of_level).channels, ranks_); }

Index Sharing::ghosts(Index l) const {
  const bool is_cut = l + 1 < static_cast<Index>(rows_.size()) && layer(l).kind == Layer::Kind::convolution;
  return is_cut ? layer(l).height / 2 * layer(l).in.width : 0;
}

Layer Sharing::part(Index l, int rank) const {
  Layer part = layer(l);
  const auto length = [rank](const std::vector<Index>& splits) { return splits[at(rank + 1)] - splits[at(rank)]; };
  if (parallelism_ == Parallelism::model) {
    part.out.channels = length(channels(l + 1));
    if (part.kind == Layer::Kind::pool) part.in.channels = part.out.channels;
  } else if (l + 1 < static_cast<Index>(rows_.size())) {
    const Index beyond = ghosts(l) / part.in.width;
    part.in.height = length(rows_[at(l)]);
    part.out.height = length(rows_[at(l + 1)]);
    if (part.in.height > 0) part.in.height += 2 * beyond;
    part.above -= beyond;
  }
  return part;
}

Layer Sharing::part_back(Index l, int rank) const {
  Layer back = part(l, rank);
  const Index beyond = ghosts(l) / back.in.width;
  if (beyond == 0 || back.in.height == 0) return back;
  back.in.height -= 2 * beyond;
  back.out.height += 2 * beyond;
  back.above += 2 * beyond;
  return back;
}

Index Sharing::samples(Index l, int rank, Index own, Index batch) const {
  switch (parallelism_) {
    case Parallelism::data: return own;
    case Parallelism::model: return l == count() ? own : batch;
    case Parallelism::domain: return l + 1 < static_cast<Index>(rows_.size()) ? batch : own;
    case Parallelism::pipeline: break;
  }
  return stages_[at(std::min(l, count() - 1))] == rank ? batch : 0;
}

int Sharing::working_ranks() const {
  if (parallelism_ == Parallelism::pipeline) return stages_.back() + 1;
  if (parallelism_ != Parallelism::model) return ranks_;
  Index most = 1;
  for (const Layer& each : layers_) most = std::max(most, each.out.channels);
  return static_cast<int>(std::min<Index>(most, ranks_));
}

Sharing::Rows Sharing::rows(Index l, int rank) const {
  const Index all = layer(l).kind == Layer::Kind::pool ? 0 : layer(l).outputs();
  if (parallelism_ == Parallelism::model && all > 0) {
    const auto splits = channels(l + 1);
    return {splits[at(rank)], splits[at(rank + 1)] - splits[at(rank)]};
  }
  return {0, parallelism_ == Parallelism::pipeline && stages_[at(l)] != rank ? 0 : all};
}

Spread Sharing::cut(Index of_level, int axis, std::vector<Index> splits, Index batch) const {
  const Volume volume = level(of_level);
  layout::BoxPartition::Splits all{{{0, batch}, {0, volume.height * volume.width}, {0, volume.channels}}};
  all[static_cast<std::size_t>(axis)] = std::move(splits);
  return {layout::BoxPartition(std::move(all), ranks_)};
}

Spread Sharing::on_rank(Index of_level, int rank, Index batch) const {
  std::vector<Index> splits(at(ranks_ + 1), batch);
  std::fill_n(splits.begin(), rank + 1, 0);
  return cut(of_level, 0, std::move(splits), batch);
}

Spread Sharing::made(Index l, std::span<const Index> splits) const {
  const Index batch = splits.back();
  if (l >= 0 && parallelism_ == Parallelism::model) return cut(l + 1, 2, channels(l + 1), batch);
  if (l >= 0 && l + 1 < static_cast<Index>(rows_.size())) {
    std::vector<Index> places = rows_[at(l + 1)];
    for (Index& each : places) each *= layer(l).out.width;
    return cut(l + 1, 1, std::move(places), batch);
  }
  if (l >= 0 && parallelism_ == Parallelism::pipeline) return on_rank(l + 1, stages_[at(l)], batch);
  return cut(l + 1, 0, {splits.begin(), splits.end()}, batch);
}

Spread Sharing::taken(Index l, std::span<const Index> splits) const {
  const Index batch = splits.back();
  switch (parallelism_) {
    case Parallelism::data: break;
    case Parallelism::model: {
      if (l == count()) return cut(l, 0, {splits.begin(), splits.end()}, batch);
      if (layer(l).kind == Layer::Kind::pool) return cut(l, 2, channels(l), batch);
      Spread all = made(l - 1, splits);
      all.is_whole = true;
      return all;
    }
    case Parallelism::domain: {
      if (l + 1 >= static_cast<Index>(rows_.size())) break;
      std::vector<Index> places = rows_[at(l)];
      for (Index& each : places) each *= layer(l).in.width;
      Spread with_ghosts = cut(l, 1, std::move(places), batch);
      with_ghosts.ghosts = ghosts(l);
      return with_ghosts;
    }
    case Parallelism::pipeline: return on_rank(l, stages_[at(std::min(l, count() - 1))], batch);
  }
  return cut(l, 0, {splits.begin(), splits.end()}, batch);
}

std::vector<Sharing::Move> Sharing::all_moves(std::span<const Index> splits) const {
  std::vector<Move> all;
  for (Index l = 0; l <= count(); ++l) {
    const Spread from = made(l - 1, splits), to = taken(l, splits);
    if (moves(l)) all.push_back({Move::What::numbers, l, from, to});
    if (l > 0 && moves_back(l)) all.push_back({Move::What::slopes, l, to, from});
    if (l < 2 || ghosts(l - 1) == 0) continue;
    all.push_back({Move::What::ghosts, l - 1, from, from});
    all.back().to.ghosts = ghosts(l - 1);
  }
  return all;
}

bool Sharing::moves(Index l) const {
  const auto any = even_splits(ranks_, ranks_);
  return made(l - 1, any) != taken(l, any);
}

bool Sharing::moves_back(Index l) const {
  const auto any = even_splits(ranks_, ranks_);
  const Spread to = taken(l, any);
  return to.is_whole || made(l - 1, any).boxes != to.boxes;
}

}  // namespace plait::learn
