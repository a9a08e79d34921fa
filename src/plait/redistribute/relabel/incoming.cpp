#include "plait/redistribute/relabel/incoming.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "plait/base/error.hpp"
#include "plait/redistribute/packages/packages.hpp"

namespace plait::redistribute {

namespace {

constexpr Index most_bytes = Index{1} << 62;

}  // namespace

Incoming::Incoming(std::span<const SizedPair> pairs, bool with_tiles)
    : pairs_(pairs.begin(), pairs.end()), with_tiles_(with_tiles) {
  Index bytes_in_all = 0;
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    const auto& [pair, element_bytes, transforms] = pairs_[i];
    const std::string name = pairs_.size() == 1 ? "" : "pair " + std::to_string(i) + ": ";
    if (apply(pair.op, pair.from.shape()) != pair.to.shape()) {
      throw ShapeMismatch(name + "op(B) is " + layout::to_string(apply(pair.op, pair.from.shape())) + ", A is " +
                          layout::to_string(pair.to.shape()));
    }
    Index bytes = 0;
    if (element_bytes < 1 || __builtin_mul_overflow(layout::elements(pair.to.shape()), element_bytes, &bytes) ||
        __builtin_add_overflow(bytes_in_all, bytes, &bytes_in_all) || bytes_in_all > most_bytes) {
      throw ArgumentError(name + layout::to_string(pair.to.shape()) + " elements of " + std::to_string(element_bytes) +
                          " bytes, expected at least 1 byte each and at most 2^62 in all");
    }
    op_from_.push_back(pair.op_from());
    ranks_ = std::max({ranks_, pair.from.ranks(), pair.to.ranks()});
  }
  volumes_.resize(pairs_.size());
}

std::span<const Incoming::Sender> Incoming::of(int rank) {
  senders_.clear();
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    for (const layout::Share& share : received_by(rank, i)) {
      const Index bytes = share.elements * pairs_[i].element_bytes;
      senders_.push_back({share.rank, {.bytes = bytes, .transformed_bytes = pairs_[i].transforms ? bytes : 0}});
    }
  }
  if (pairs_.size() > 1) {
    std::stable_sort(senders_.begin(), senders_.end(),
                     [](const Sender& a, const Sender& b) { return a.rank < b.rank; });
    std::size_t last = 0;
    for (std::size_t i = 1; i < senders_.size(); ++i) {
      if (senders_[i].rank == senders_[last].rank) {
        senders_[last].package.bytes += senders_[i].package.bytes;
        senders_[last].package.transformed_bytes += senders_[i].package.transformed_bytes;
      } else {
        senders_[++last] = senders_[i];
      }
    }
    senders_.resize(std::min(senders_.size(), last + 1));
  }
  if (with_tiles_) add_tiles(rank);
  return senders_;
}

std::vector<layout::Share> Incoming::received_by(int rank, std::size_t pair) {
  const MatrixPair& matrices = pairs_[pair].pair;
  if (!matrices.part) {
    std::optional<layout::Volumes>& volumes = volumes_[pair];
    if (!volumes) volumes.emplace(op_from_[pair], matrices.to);
    return volumes->received_by(rank);
  }
  std::vector<layout::Share> shares;
  const Packages packages(op_from_[pair], matrices.to, rank, matrices.part);
  for (const Package& package : packages.incoming()) shares.push_back({package.peer, package.elements});
  if (packages.own().elements == 0) return shares;
  const auto after = std::ranges::lower_bound(shares, rank, {}, &layout::Share::rank);
  shares.insert(after, {rank, packages.own().elements});
  return shares;
}

void Incoming::add_tiles(int rank) {
  struct Sent {
    int from;
    PackageTile tile;
  };
  std::vector<Sent> all;
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    const Packages packages(op_from_[i], pairs_[i].pair.to, rank, pairs_[i].pair.part);
    const auto add = [&](const Package& package) {
      for (const Panel& panel : package.panels) {
        const Index rows = panel.rows->length;
        const Index columns = panel.columns->length;
        all.push_back({package.peer,
                       {i, panel.source_position, panel.target_position, rows, columns,
                        rows * columns * pairs_[i].element_bytes, pairs_[i].transforms}});
      }
    };
    for (const Package& package : packages.incoming()) add(package);
    add(packages.own());
  }
  std::stable_sort(all.begin(), all.end(), [](const Sent& a, const Sent& b) { return a.from < b.from; });
  tiles_.clear();
  for (const Sent& sent : all) tiles_.push_back(sent.tile);
  std::size_t begin = 0;
  for (Sender& sender : senders_) {
    std::size_t end = begin;
    while (end < all.size() && all[end].from == sender.rank) ++end;
    sender.package.tiles = std::span<const PackageTile>(tiles_).subspan(begin, end - begin);
    begin = end;
  }
}

}  // namespace plait::redistribute
