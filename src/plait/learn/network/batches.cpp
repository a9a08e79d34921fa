#include "plait/learn/network/batches.hpp"

#include <algorithm>
#include <utility>

#include "plait/base/random.hpp"
#include "plait/base/rounding.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::learn {

namespace {

constexpr std::uint64_t rounds = 6;

}  // namespace

Shuffle::Shuffle(Index count, std::uint64_t seed) noexcept : count_(static_cast<std::uint64_t>(count)), seed_(seed) {
  while ((count_ >> (2 * bits_)) > 0) ++bits_;
}

std::uint64_t Shuffle::half(std::uint64_t round, std::uint64_t other) const noexcept {
  return random_bits(seed_ + round, other) & ((std::uint64_t{1} << bits_) - 1);
}

Index Shuffle::place_of(Index number) const noexcept {
  auto place = static_cast<std::uint64_t>(number);
  do {
    std::uint64_t high = place >> bits_, low = place & ((std::uint64_t{1} << bits_) - 1);
    for (std::uint64_t round = rounds; round-- > 0;) {
      low = std::exchange(high, low ^ half(round, high));
    }
    place = high << bits_ | low;
  } while (place >= count_);
  return static_cast<Index>(place);
}

Batches::Batches(const Samples& samples, Index batch, Index grain, std::uint64_t seed)
    : samples_(samples), context_(samples.context()), batch_(batch), grain_(grain), seed_(seed) {
  mpi::agreed(context_, [&] {
    rows_ = samples.own_training();
    ends_.push_back(0);
    for (Index b = 0; b < count(); ++b) {
      const Index own = own_end(b, context_.rank()) - own_end(b, context_.rank() - 1);
      most_samples_ = std::max(most_samples_, own);
      ends_.push_back(ends_.back() + own);
    }
    own_.resize(ends_.back() * samples.dimension() * samples.own().element_bytes());
    targets_.resize(ends_.back());
  });
  first_ = mpi::sum_below(context_.comm(), rows_.count());
}

Index Batches::bytes(const Samples& samples, Index batch) noexcept {
  const Index own = quotient_up(samples.training(), samples.context().size()) + quotient_up(samples.training(), batch);
  return (2 * own + samples.own().count()) *
         (samples.dimension() * samples.own().element_bytes() + 4 * Index{sizeof(double)});
}

Index Batches::count() const noexcept { return quotient_up(samples_.training(), batch_); }

Index Batches::samples_of(Index batch) const noexcept { return std::min(batch_, samples_.training() - batch * batch_); }

Index Batches::own_end(Index batch, int rank) const noexcept {
  const Index samples = samples_of(batch), grains = quotient_up(samples, grain_);
  return std::min(samples, grains * (rank + 1) / context_.size() * grain_);
}

std::vector<Index> Batches::splits(Index batch) const {
  std::vector<Index> splits;
  for (int rank = -1; rank < context_.size(); ++rank) splits.push_back(own_end(batch, rank));
  return splits;
}

int Batches::rank_of(Index place) const noexcept {
  const Index grains = quotient_up(samples_of(place / batch_), grain_), grain = place % batch_ / grain_;
  return static_cast<int>(quotient_up((grain + 1) * context_.size(), grains) - 1);
}

void Batches::begin(Index epoch) {
  const Shuffle shuffle(samples_.training(), random_bits(seed_, static_cast<std::uint64_t>(epoch)));
  Vector<Index> places, ranks;
  mpi::agreed(context_, [&] {
    for (Index i = 0; i < rows_.count(); ++i) {
      places.push_back(shuffle.place_of(first_ + i));
      ranks.push_back(rank_of(places.back()));
    }
  });
  const Dealt dealt = deal(samples_, rows_, ranks, places);
  const Rows rows(dealt.rows.data(), std::ssize(dealt.numbers), samples_.own());
  for (Index i = 0; i < rows.count(); ++i) {
    const Index batch = dealt.numbers[at(i)] / batch_, place = dealt.numbers[at(i)] % batch_;
    const Index to = ends_[batch] + place - own_end(batch, context_.rank() - 1);
    std::ranges::copy(rows.bytes(i), own_.begin() + to * std::ssize(rows.bytes(i)));
    targets_[to] = dealt.targets[at(i)];
  }
}

Batches::Part Batches::part(Index batch) const {
  const Index count = ends_[batch + 1] - ends_[batch];
  const Rows all(own_.data(), ends_.back(), samples_.own());
  return {Rows(all.bytes(ends_[batch]).data(), count, samples_.own()),
          std::span(targets_).subspan(at(ends_[batch]), at(count))};
}

}  // namespace plait::learn
