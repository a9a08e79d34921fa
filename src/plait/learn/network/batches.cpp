#include "plait/learn/network/batches.hpp"

#include <algorithm>
#include <utility>

#include "plait/base/random.hpp"
#include "plait/base/rounding.hpp"
#include "plait/collective/calls.hpp"
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

Index Shuffle::at(Index place) const noexcept {
  auto number = static_cast<std::uint64_t>(place);
  do {
    std::uint64_t high = number >> bits_, low = number & ((std::uint64_t{1} << bits_) - 1);
    for (std::uint64_t round = 0; round < rounds; ++round) {
      high = std::exchange(low, high ^ half(round, low));
    }
    number = high << bits_ | low;
  } while (number >= count_);
  return static_cast<Index>(number);
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

template <class T>
Batches<T>::Batches(const Samples<T>& samples, Index batch, Index grain, std::uint64_t seed)
    : samples_(samples), context_(samples.context()), batch_(batch), grain_(grain), seed_(seed) {
  mpi::agreed(context_, [&] {
    samples.for_each_block(false,
                           [&](std::span<const Index> rows) { rows_.insert(rows_.end(), rows.begin(), rows.end()); });
    begins_.push_back(0);
    ends_.push_back(0);
    for (Index b = 0; b < count(); ++b) {
      const Index own = own_end(b, context_.rank()) - own_end(b, context_.rank() - 1);
      most_samples_ = std::max(most_samples_, own);
      ends_.push_back(ends_.back() + own);
    }
    own_.resize(ends_.back() * samples.dimension());
    sent_.resize(rows_.count() * samples.dimension());
    targets_.resize(ends_.back());
    sent_targets_.resize(rows_.count());
    begins_.reserve(at(context_.size() + 1));
  });
  for (const Index each : mpi::all_gather(context_.comm(), rows_.count())) begins_.push_back(begins_.back() + each);
}

template <class T>
Index Batches<T>::bytes(const Samples<T>& samples, Index batch) noexcept {
  const Index own = quotient_up(samples.training(), samples.context().size()) + quotient_up(samples.training(), batch);
  return (own + samples.own().rows) * (samples.dimension() * Index{sizeof(T)} + 3 * Index{sizeof(double)});
}

template <class T>
Index Batches<T>::count() const noexcept {
  return quotient_up(samples_.training(), batch_);
}

template <class T>
Index Batches<T>::samples_of(Index batch) const noexcept {
  return std::min(batch_, samples_.training() - batch * batch_);
}

template <class T>
Index Batches<T>::own_end(Index batch, int rank) const noexcept {
  const Index samples = samples_of(batch), grains = quotient_up(samples, grain_);
  return std::min(samples, grains * (rank + 1) / context_.size() * grain_);
}

template <class T>
std::vector<Index> Batches<T>::splits(Index batch) const {
  std::vector<Index> splits;
  for (int rank = -1; rank < context_.size(); ++rank) splits.push_back(own_end(batch, rank));
  return splits;
}

template <class T>
int Batches<T>::rank_of(Index place) const noexcept {
  const Index grains = quotient_up(samples_of(place / batch_), grain_), grain = place % batch_ / grain_;
  return static_cast<int>(quotient_up((grain + 1) * context_.size(), grains) - 1);
}

template <class T>
void Batches<T>::begin(Index epoch) {
  const Index columns = samples_.dimension();
  struct Move {
    Index number, to;
  };
  Vector<Move> sends, receives;  // to ranks; to places among this rank's. Both by their numbers
  Vector<Index> send_counts, receive_counts, next;
  Vector<T> received;
  Vector<double> received_targets;
  const Shuffle shuffle(samples_.training(), random_bits(seed_, static_cast<std::uint64_t>(epoch)));
  mpi::agreed(context_, [&] {
    send_counts.resize(context_.size());
    receive_counts.resize(context_.size());
    received.resize(own_.count());
    received_targets.resize(targets_.count());
    const Index first = begins_[context_.rank()];
    for (Index i = 0; i < rows_.count(); ++i) {
      sends.push_back({i, rank_of(shuffle.place_of(first + i))});
      ++send_counts[sends.back().to];
    }
    for (Index b = 0; b < count(); ++b) {
      const Index begin = b * batch_ + own_end(b, context_.rank() - 1);
      for (Index i = ends_[b]; i < ends_[b + 1]; ++i) {
        receives.push_back({shuffle.at(begin + i - ends_[b]), i});
      }
    }
    std::ranges::sort(receives, {}, &Move::number);
    for (const Move& each : receives) {
      ++receive_counts[std::ranges::upper_bound(begins_, each.number) - begins_.begin() - 1];
    }
    next.push_back(0);
    for (const Index each : send_counts) next.push_back(next.back() + each);
    for (const auto& [i, rank] : sends) {
      const Index to = next[rank]++;
      std::copy_n(samples_.own().data + rows_[i] * samples_.own().leading_dimension, columns,
                  sent_.data() + to * columns);
      sent_targets_[to] = samples_.target(rows_[i]);
    }
  });
  const auto exchange = [&]<class Element>(const Vector<Element>& in, Vector<Element>& out, Index elements) {
    mpi::agreed(context_,
                [&] {
                  return collective::plan_all_to_all(context_, std::as_bytes(std::span(in)), send_counts,
                                                     std::as_writable_bytes(std::span(out)), receive_counts,
                                                     elements * Index{sizeof(Element)});
                })
        .start()
        .wait();
  };
  exchange(sent_, received, columns);
  exchange(sent_targets_, received_targets, 1);
  for (Index i = 0; i < receives.count(); ++i) {
    std::copy_n(received.data() + i * columns, columns, own_.data() + receives[i].to * columns);
    targets_[receives[i].to] = received_targets[i];
  }
}

template <class T>
typename Batches<T>::Part Batches<T>::part(Index batch) const {
  const Index columns = samples_.dimension(), count = ends_[batch + 1] - ends_[batch];
  return {{own_.data() + ends_[batch] * columns, count, columns, columns},
          std::span(targets_).subspan(at(ends_[batch]), at(count))};
}

template class Batches<float>;
template class Batches<double>;

}  // namespace plait::learn
