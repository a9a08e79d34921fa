#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plait/base/backoff.hpp"
#include "plait/base/index.hpp"
#include "plait/mpi/context.hpp"
#include "plait/mpi/mailbox.hpp"
#include "plait/mpi/request.hpp"

namespace plait::iterate {

/// What ranks tell each other while they go down the same function by gradients of their own samples.
enum class Exchange : unsigned char {
  states,   ///< after each step its state, to another rank, drawn at random (ASGD)
  gossip,   ///< the same, and each takes the mean with whatever comes
  server,   ///< all steps to rank 0, and from there those of the others (an asynchronous parameter server)
  nothing,  ///< until the end of the epoch, for comparison
};
[[nodiscard]] const char* name(Exchange exchange);

/// Descent on several ranks of which none waits for another. A step along the gradient Δ of some samples also goes
/// towards the mean with states of others:
///
///     w ← w - ε (w - (w + Σ_n w_n) / (N + 1)) - ε Δ,
///
/// where w_n are those of the N states in the external buffers of this rank that were not taken before (λ) and that its
/// own step comes nearer to (the Parzen window δ): |w - ε Δ - w_n| < |w - w_n|. Of the way to the mean no more than all
/// is gone. In gossip, all of it is, and there is no window. States are lost where others come before they are taken.
///
/// With a server, w is where the epoch began and the sum of all steps since then, of this rank and, as far as is known,
/// of others. Ranks send the sum of their own ones, and get that of the others: what is lost comes with the next one.
///
/// An epoch ends when all ranks together have used as many samples as were wanted, whoever used them: a slow rank does
/// less, others up to twice their part.
///
///     descent.begin(samples, own);
///     while (descent.goes_on()) { …; descent.step(w, gradient, length, batch); }
///
/// What comes when depends on the clock, so results differ from run to run.
///
/// Sources: Keuper, Pfreundt, "Asynchronous parallel stochastic gradient descent", MLHPC 2015; Jin et al., "How to
/// scale distributed deep learning?", arXiv:1611.04581; Ho et al., "More effective distributed ML via a stale
/// synchronous parallel parameter server", NIPS 2013.
class AsynchronousDescent {
 public:
  /// How many it has at most: in buffers, under way, and some to work with; of a server, of each rank.
  [[nodiscard]] static Index states(const mpi::Context& context, Exchange exchange) noexcept {
    return 16 + (exchange == Exchange::server && context.rank() == 0 ? context.size() : 0);
  }

  /// Collective, and so is the destructor.
  /// \throws OutOfMemory  on all ranks, where one has too little
  AsynchronousDescent(mpi::Context& context, Index numbers, std::uint64_t seed, Exchange exchange);

  /// Begins an epoch: no state of an earlier one counts. Collective only in its end.
  /// \param samples  how many are to be used on all ranks, of them `own` by this one if all are as fast
  void begin(Index samples, Index own);
  /// Whether there is another step to do; the same rank may wait here for others that are slower by far. Every rank
  /// asks until there is none.
  [[nodiscard]] bool goes_on();
  /// A step with the gradient of some samples. Local.
  void step(std::span<double> w, std::span<const double> gradient, double length, Index samples);

  /// With a server, the sum of this rank's steps since the epoch began.
  [[nodiscard]] std::span<const double> way() const { return ways_[0]; }
  /// States of others that were mixed into this rank's since the beginning, and those that were outside of the window.
  [[nodiscard]] Index mixed() const noexcept { return mixed_; }
  [[nodiscard]] Index outside() const noexcept { return outside_; }

 private:
  [[nodiscard]] bool take(Index buffer);
  void put(int to, Index buffer);
  void serve();

  mpi::Context& context_;
  std::uint64_t seed_;
  Exchange exchange_;
  std::optional<mpi::Mailbox> mailbox_;
  std::vector<double> record_;  // the epoch, from whom it is, then a state
  std::vector<double> sum_;
  // With a server: this rank's way and, of the server, those of others; those of all others, as far as they are known
  // and as they were when this rank took them last.
  std::vector<std::vector<double>> ways_;
  std::vector<double> others_, taken_;
  std::uint64_t drawn_ = 0;
  double epoch_ = 0;
  Index mixed_ = 0, outside_ = 0;
  // How many samples were used: wanted, by this rank at most and so far; by each, as was told last.
  Index samples_ = 0, most_ = 0, own_ = 0, told_ = 0;
  std::vector<Index> of_ranks_;
  bool is_telling_ = false;
  mpi::Request telling_;
};

}  // namespace plait::iterate
