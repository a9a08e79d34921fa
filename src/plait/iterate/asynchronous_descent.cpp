#include "plait/iterate/asynchronous_descent.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "plait/base/random.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::iterate {

namespace {

constexpr Index buffers = 4;  // of states of others
constexpr Index head = 2;     // numbers before a state

}  // namespace

const char* name(Exchange exchange) {
  return std::array{"states", "gossip", "server", "nothing"}[static_cast<std::size_t>(exchange)];
}

AsynchronousDescent::AsynchronousDescent(mpi::Context& context, Index numbers, std::uint64_t seed, Exchange exchange)
    : context_(context), seed_(random_bits(seed, static_cast<std::uint64_t>(context.rank()))), exchange_(exchange) {
  mpi::agreed(context, [&](mpi::Alike& arguments) {
    arguments.add("numbers", numbers);
    arguments.add("exchange", exchange);
    record_.resize(at(head + numbers));
    sum_.resize(at(numbers));
    of_ranks_.resize(at(Index{context.size()}));
    if (exchange != Exchange::server) return;
    ways_.assign(context.rank() == 0 ? of_ranks_.size() : 1, sum_);
    others_ = taken_ = sum_;
  });
  if (exchange != Exchange::nothing && context.size() > 1) mailbox_.emplace(context, head + numbers, buffers);
}

void AsynchronousDescent::begin(Index samples, Index own) {
  samples_ = samples;
  most_ = context_.size() == 1 ? own : 2 * own;
  own_ = 0;
  ++epoch_;
  for (std::vector<double>& way : ways_) std::ranges::fill(way, 0);
  std::ranges::fill(others_, 0);
  std::ranges::fill(taken_, 0);
}

bool AsynchronousDescent::goes_on() {
  Backoff backoff;
  while (true) {
    if (is_telling_ && telling_.test()) {
      is_telling_ = false;
      if (std::accumulate(of_ranks_.begin(), of_ranks_.end(), Index{0}) >= samples_) return false;
    }
    if (!is_telling_) {
      told_ = own_;
      telling_ = mpi::start_all_gather_bytes(context_.comm(), std::as_bytes(std::span(&told_, 1)),
                                             std::as_writable_bytes(std::span(of_ranks_)));
      is_telling_ = true;
    }
    if (own_ < most_) return true;
    serve();
    backoff.idle();
  }
}

/// A state of this epoch, if there is one in this buffer.
bool AsynchronousDescent::take(Index buffer) { return mailbox_->take(buffer, record_) && record_[0] == epoch_; }

void AsynchronousDescent::put(int to, Index buffer) {
  record_[0] = epoch_;
  record_[1] = context_.rank();
  mailbox_->put(to, buffer, record_);
}

/// Takes what came, and the server answers: to each rank, the ways of all others.
void AsynchronousDescent::serve() {
  if (!mailbox_ || exchange_ != Exchange::server) return;
  const std::span<double> state = std::span(record_).subspan(head);
  for (Index buffer = 0; buffer < buffers; ++buffer) {
    if (!take(buffer)) continue;
    ++mixed_;
    if (context_.rank() > 0) {
      std::ranges::copy(state, others_.begin());
      continue;
    }
    const auto from = static_cast<int>(record_[1]);
    std::vector<double>& way = ways_[at(Index{from})];
    for (std::size_t i = 0; i < way.size(); ++i) {
      others_[i] += state[i] - way[i];
      way[i] = state[i];
      state[i] = others_[i] - way[i] + ways_[0][i];
    }
    put(from, 0);
  }
}

void AsynchronousDescent::step(std::span<double> w, std::span<const double> gradient, double length, Index samples) {
  own_ += samples;
  const std::span<double> state = std::span(record_).subspan(head);
  if (exchange_ == Exchange::server) {
    serve();
    for (std::size_t i = 0; i < w.size(); ++i) {
      ways_[0][i] -= length * gradient[i];
      w[i] += others_[i] - taken_[i] - length * gradient[i];
      taken_[i] = others_[i];
    }
    if (context_.rank() == 0) return;
    std::ranges::copy(ways_[0], state.begin());
    put(0, context_.rank() % buffers);  // a place of its own, so that no older one comes later
    return;
  }
  Index mixed = 0;
  for (Index buffer = 0; mailbox_ && buffer < buffers; ++buffer) {
    if (!take(buffer)) continue;
    double before = 0, after = 0;  // squared distances
    for (std::size_t i = 0; i < w.size(); ++i) {
      const double distance = w[i] - state[i];
      before += distance * distance;
      after += (distance - length * gradient[i]) * (distance - length * gradient[i]);
    }
    if (exchange_ == Exchange::states && !(after < before)) {
      ++outside_;
      continue;
    }
    if (mixed++ == 0) std::ranges::copy(w, sum_.begin());
    for (std::size_t i = 0; i < w.size(); ++i) sum_[i] += state[i];
  }
  mixed_ += mixed;
  const double towards = exchange_ == Exchange::gossip ? 1 : std::min(length, 1.0);
  for (std::size_t i = 0; i < w.size(); ++i) {
    if (mixed > 0) w[i] -= towards * (w[i] - sum_[i] / static_cast<double>(mixed + 1));
    w[i] -= length * gradient[i];
  }
  if (!mailbox_) return;
  const std::uint64_t bits = random_bits(seed_, drawn_++);
  const auto to = static_cast<int>(bits % static_cast<std::uint64_t>(context_.size() - 1));
  std::ranges::copy(w, state.begin());
  put(to < context_.rank() ? to : to + 1, static_cast<Index>((bits >> 32) % buffers));
}

}  // namespace plait::iterate
