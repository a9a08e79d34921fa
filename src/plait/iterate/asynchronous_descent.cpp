#include "plait/iterate/asynchronous_descent.hpp"

#include <algorithm>
#include <numeric>

#include "plait/base/random.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::iterate {

namespace {

constexpr Index buffers = 4;  // of states of others

}  // namespace

AsynchronousDescent::AsynchronousDescent(mpi::Context& context, Index numbers, std::uint64_t seed, Exchange exchange)
    : context_(context), seed_(random_bits(seed, static_cast<std::uint64_t>(context.rank()))) {
  mpi::agreed(context, [&](mpi::Alike& arguments) {
    arguments.add("numbers", numbers);
    arguments.add("exchange", exchange);
    record_.resize(at(numbers + 1));
    sum_.resize(at(numbers));
    of_ranks_.resize(at(Index{context.size()}));
  });
  if (exchange == Exchange::states && context.size() > 1) mailbox_.emplace(context, numbers + 1, buffers);
}

void AsynchronousDescent::begin(Index samples, Index own) {
  samples_ = samples;
  most_ = context_.size() == 1 ? own : 2 * own;
  own_ = 0;
  ++epoch_;
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
    backoff.idle();
  }
}

void AsynchronousDescent::step(std::span<double> w, std::span<const double> gradient, double length, Index samples) {
  own_ += samples;
  Index mixed = 0;
  const std::span<const double> state = std::span(record_).subspan(1);
  for (Index buffer = 0; mailbox_ && buffer < buffers; ++buffer) {
    if (!mailbox_->take(buffer, record_) || record_[0] != epoch_) continue;
    double before = 0, after = 0;  // squared distances
    for (std::size_t i = 0; i < w.size(); ++i) {
      const double distance = w[i] - state[i];
      before += distance * distance;
      after += (distance - length * gradient[i]) * (distance - length * gradient[i]);
    }
    if (!(after < before)) {
      ++outside_;
      continue;
    }
    if (mixed++ == 0) std::ranges::copy(w, sum_.begin());
    for (std::size_t i = 0; i < w.size(); ++i) sum_[i] += state[i];
  }
  mixed_ += mixed;
  const double towards = std::min(length, 1.0);
  for (std::size_t i = 0; i < w.size(); ++i) {
    if (mixed > 0) w[i] -= towards * (w[i] - sum_[i] / static_cast<double>(mixed + 1));
    w[i] -= length * gradient[i];
  }
  if (!mailbox_) return;
  const std::uint64_t bits = random_bits(seed_, drawn_++);
  const auto others = static_cast<std::uint64_t>(context_.size() - 1);
  const auto to = static_cast<int>(bits % others);
  record_[0] = epoch_;
  std::ranges::copy(w, record_.begin() + 1);
  mailbox_->put(to < context_.rank() ? to : to + 1, static_cast<Index>((bits >> 32) % buffers), record_);
}

}  // namespace plait::iterate
