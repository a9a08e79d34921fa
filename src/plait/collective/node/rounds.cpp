#include "plait/collective/node/rounds.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "plait/base/error.hpp"
#include "plait/base/stopwatch.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/simd/transform/copy.hpp"

namespace plait::collective::node {

namespace {

using Counter = std::atomic_ref<std::uint64_t>;

// A slice is cut so that one rank reduces while another stages, but not into pieces whose signals cost more than that.
constexpr Index least_round_bytes = Index{16} << 10;
constexpr Index pieces_of_slice = 4;

// Results beyond this are not in the cache any more when somebody reads them. (64 MB in shared memory, two ranks: 6.5
// ms past the caches, 10 through them.)
constexpr Index streamed_bytes = Index{8} << 20;

std::span<const std::byte> bytes_of(const std::byte* data, Index n, Index element_bytes) {
  return {data, static_cast<std::size_t>(n * element_bytes)};
}

void await(const Wait& wait, std::uint64_t& published, std::uint64_t& seen, std::uint64_t count) {
  if (seen >= count) return;
  const Counter counter(published);
  wait.until([&] {
    seen = counter.load(std::memory_order_acquire);
    return seen >= count;
  });
}

// Short enough that all ranks soon have something to do, long enough that signals cost little beside them.
constexpr Index least_link_bytes = Index{8} << 10;
constexpr Index pieces_of_whole = 8;

}  // namespace

Rounds::Rounds(mpi::Context& context, const Board& board, Slots& slots, const Wait& wait, simd::Isa isa)
    : context_(&context),
      board_(&board),
      slots_(&slots),
      wait_(&wait),
      isa_(isa),
      scratch_(board.piece_bytes()),
      ring_(board.piece_bytes()),
      into_stages_(PieceRing::bytes_for(board.piece_bytes()) * (board.ranks() - 1)),
      into_results_(PieceRing::bytes_for(board.piece_bytes())),
      peers_(static_cast<std::size_t>(board.ranks())),
      operands_(static_cast<std::size_t>(board.ranks())) {
  const mpi::NodeTopology& topology = context.topology();
  for (int rank = 0; rank < context.size(); ++rank) {
    if (topology.node_of(rank) == topology.node_of(context.rank())) {
      peer(topology.node_rank_of(rank)).context_rank = rank;
    }
  }
}

void Rounds::await_staged(int rank, std::uint64_t rounds) {
  await(*wait_, call_of(rank).staged, peer(rank).staged, rounds);
}

void Rounds::await_reduced(int rank, std::uint64_t rounds) {
  await(*wait_, board_->control(rank).reduced.rounds, peer(rank).reduced, rounds);
}

void Rounds::await_copied(int rank, std::uint64_t rounds) {
  await(*wait_, board_->control(rank).copied.rounds, peer(rank).copied, rounds);
}

void Rounds::publish_staged(std::uint64_t rounds) {
  Counter(call_of(board_->rank()).staged).store(rounds, std::memory_order_release);
}

void Rounds::move(std::byte* to, const std::byte* from, Index bytes) const {
  if (bytes == 0) return;
  if (streams_) {
    simd::stream_copy(to, from, bytes, isa_, simd::Stores::streaming);
  } else {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
}

void Rounds::run(const Reduction& reduction) {
  if (reduction.is_prefix()) {
    slots_->announce(Arguments(reduction));
    slots_->meet();
    return run_chain(reduction);
  }
  begin(reduction);
  slots_->announce(Arguments(reduction));
  plan(reduction);
  const bool stages = peer(board_->rank()).in == nullptr;
  const bool copies = peer(board_->rank()).copies;
  if (stages) stage_first(reduction);
  meet(reduction);
  for (Index round = 0; round < rounds_; ++round) {
    if (stages && round > 0 && round + 1 < rounds_) stage(reduction, round + 1);
    reduce(reduction, round);
    if (copies && round > 0) copy(reduction, round - 1);
  }
  if (copies) copy(reduction, rounds_ - 1);
  finish(reduction);
}

// Tells the others where the operands and results are, if they can be reached.
void Rounds::begin(const Reduction& reduction) {
  const Index element = reduction.combine->element_bytes();
  ++call_;
  Peer& own = peer(board_->rank());
  Board::Call& line = call_of(board_->rank());
  // Results of a scatter in place would be written where others still read.
  const bool readable = reduction.in != reduction.out || reduction.deliver != Deliver::to_owners;
  const auto in = readable ? context_->find_shared(bytes_of(reduction.in, reduction.n, element)) : std::nullopt;
  const bool gets_all = reduction.delivers_to(board_->rank());
  const auto out = gets_all ? context_->find_shared(bytes_of(reduction.out, reduction.n, element)) : std::nullopt;
  line.in = in.value_or(mpi::SharedPlace{});
  line.out = out.value_or(mpi::SharedPlace{});
  own.in = in ? reduction.in : nullptr;
  own.out = out ? reduction.out : nullptr;
  own.copies = gets_all && !out;
}

// How the data is cut, and written.
void Rounds::plan(const Reduction& reduction) {
  const Index element = reduction.combine->element_bytes();
  streams_ = reduction.n > streamed_bytes / element;
  const Index longest = longest_slice(reduction.begins);
  const Index least = std::max<Index>(least_round_bytes / element, 1);
  length_ =
      std::min(std::max(least, (longest + pieces_of_slice - 1) / pieces_of_slice), board_->piece_bytes() / element);
  rounds_ = std::max<Index>((longest + length_ - 1) / length_, 1);
  ring_.begin(length_ * element);
}

// Before others wait for them, two rounds.
void Rounds::stage_first(const Reduction& reduction) {
  for (Index round = 0; round < std::min<Index>(rounds_, 2); ++round) stage(reduction, round);
}

// Waits until all have come, and sees how their operands and results are to be had. If their arguments differ, what was
// staged is as if it had never been: nobody has looked at it.
void Rounds::meet(const Reduction& reduction) {
  const int self = board_->rank();
  try {
    slots_->meet();
  } catch (...) {
    publish_staged(before_);
    --call_;
    throw;
  }
  copied_by_others_ = false;
  some_share_ = peer(self).in != nullptr || peer(self).out != nullptr;
  for (int rank = 0; rank < board_->ranks(); ++rank) {
    if (rank == self) continue;
    see_places(rank);
    Peer& other = peer(rank);
    other.copies = reduction.delivers_to(rank) && other.out == nullptr;
    copied_by_others_ = copied_by_others_ || other.copies;
    some_share_ = some_share_ || other.in != nullptr || other.out != nullptr;
  }
  // Not before all have come, and so have seen who failed in the call before.
  if (failure_) Counter(board_->control(self).reduced.failed_call).store(call_, std::memory_order_relaxed);
}

// What is there but can't be seen gets an address that nobody uses any more: steps go on as the others expect them.
void Rounds::see_places(int rank) {
  const auto address = [&](const mpi::SharedPlace& place) -> std::byte* {
    if (place.memory < 0) return nullptr;
    try {
      return context_->shared_address(peer(rank).context_rank, place);
    } catch (const ArgumentError&) {
      failure_ = std::current_exception();
      return scratch_.data();
    }
  };
  const Board::Call& line = call_of(rank);
  Peer& other = peer(rank);
  other.in = address(line.in);
  other.out = address(line.out);
}

void Rounds::stage(const Reduction& reduction, Index round) {
  const int self = board_->rank();
  const Index element = reduction.combine->element_bytes();
  const std::uint64_t number = count(round);
  for (int step = 1; step < board_->ranks(); ++step) {
    const int owner = (self + step) % board_->ranks();
    const SlicePart part = piece(reduction, owner, round);
    if (number > Board::rounds_ahead) await_reduced(owner, number - Board::rounds_ahead);
    if (part.size() == 0) continue;
    const Index bytes = part.size() * element;
    const Stopwatch watch;
    simd::stream_copy(stage_of(self, owner, round), reduction.in + part.begin * element, bytes, isa_,
                      into_stages_.next(bytes));
    into_stages_.took(bytes, watch.seconds());
  }
  publish_staged(number);
}

void Rounds::reduce(const Reduction& reduction, Index round) {
  const int self = board_->rank();
  const Index element = reduction.combine->element_bytes();
  const std::uint64_t number = count(round);
  const SlicePart part = piece(reduction, self, round);
  if (part.size() > 0) {
    for (int rank = 0; rank < board_->ranks(); ++rank) {
      const std::byte* whole = rank == self ? reduction.in : peer(rank).in;
      if (whole == nullptr) await_staged(rank, number);
      operands_[static_cast<std::size_t>(rank)] =
          whole != nullptr ? whole + part.begin * element : stage_of(rank, self, round);
    }
    if (copied_by_others_ && number > Board::rounds_ahead) {
      for (int rank = 0; rank < board_->ranks(); ++rank) {
        if (rank != self && peer(rank).copies) await_copied(rank, number - Board::rounds_ahead);
      }
    }
    std::byte* own = nullptr;
    if (reduction.deliver == Deliver::to_owners) own = reduction.out + round * length_ * element;
    if (reduction.delivers_to(self)) own = reduction.out + part.begin * element;
    const Index bytes = part.size() * element;
    const simd::Stores stores = into_results_.next(bytes);
    std::byte* const for_others = copied_by_others_ ? result_of(self, round) : nullptr;
    std::byte* result = place_of_result(reduction, own, stores == simd::Stores::cached ? for_others : nullptr);
    const Stopwatch watch;
    try {
      if (!failure_) fold(*reduction.combine, part.size(), operands_, result);
    } catch (...) {
      failure_ = std::current_exception();
      Counter(board_->control(self).reduced.failed_call).store(call_, std::memory_order_relaxed);
    }
    hand_out(reduction, part, result, own);
    if (for_others != nullptr) {
      if (for_others != result) simd::stream_copy(for_others, result, bytes, isa_, stores);
      into_results_.took(bytes, watch.seconds());
    }
  }
  Counter(board_->control(self).reduced.rounds).store(number, std::memory_order_release);
}

// Where others copy it if that is given, or straight into this rank's own, but where that may still hold operands of
// this or is to be written past the caches.
std::byte* Rounds::place_of_result(const Reduction& reduction, std::byte* own, std::byte* for_others) const {
  if (for_others != nullptr) return for_others;
  const bool holds_operand = reduction.in == reduction.out;
  const bool is_of_first_two = board_->rank() < 2 && reduction.deliver != Deliver::to_owners;
  if (own == nullptr || streams_ || (holds_operand && !is_of_first_two)) return scratch_.data();
  return own;
}

void Rounds::hand_out(const Reduction& reduction, const SlicePart& part, const std::byte* result, std::byte* own) {
  if (failure_) return;
  const Index element = reduction.combine->element_bytes();
  if (own != nullptr && own != result) move(own, result, part.size() * element);
  for (int step = 1; step < board_->ranks(); ++step) {
    const int rank = (board_->rank() + step) % board_->ranks();
    std::byte* const out = peer(rank).out;
    if (out != nullptr) move(out + part.begin * element, result, part.size() * element);
  }
}

void Rounds::copy(const Reduction& reduction, Index round) {
  const Index element = reduction.combine->element_bytes();
  for (int step = 1; step < board_->ranks(); ++step) {
    const int owner = (board_->rank() + step) % board_->ranks();
    const SlicePart part = piece(reduction, owner, round);
    if (part.size() == 0) continue;
    await_reduced(owner, count(round));
    move(reduction.out + part.begin * element, result_of(owner, round), part.size() * element);
  }
  Counter(board_->control(board_->rank()).copied.rounds).store(count(round), std::memory_order_release);
}

// Nobody reads this rank's operands or writes its result any more, and all know who failed.
void Rounds::finish(const Reduction& reduction) {
  const int self = board_->rank();
  const std::uint64_t last = count(rounds_ - 1);
  const bool may_fail = some_share_ || reduction.combine->may_throw();
  for (int rank = 0; may_fail && rank < board_->ranks(); ++rank) {
    if (rank != self) await_reduced(rank, last);
  }
  if (!peer(self).copies) Counter(board_->control(self).copied.rounds).store(last, std::memory_order_release);
  before_ = last;
  ring_.end(rounds_);
  if (const std::exception_ptr failure = std::exchange(failure_, nullptr)) std::rethrow_exception(failure);
  for (int rank = 0; may_fail && rank < board_->ranks(); ++rank) {
    const Counter failed(board_->control(rank).reduced.failed_call);
    if (failed.load(std::memory_order_relaxed) == call_) throw_failed(rank);
  }
}

// Prefixes are passed on from rank to rank. Nobody meets anybody: this is no call in which addresses are told, so that
// the last such one still stands on the board for those who have not read it. Numbers of rounds go on, and with them
// the rules by which memory is used again.
void Rounds::run_chain(const Reduction& reduction) {
  const Index element = reduction.combine->element_bytes();
  const Index least = std::max<Index>(least_link_bytes / element, 1);
  length_ =
      std::min(std::max(least, (reduction.n + pieces_of_whole - 1) / pieces_of_whole), board_->piece_bytes() / element);
  rounds_ = (reduction.n + length_ - 1) / length_;
  ring_.begin(length_ * element);
  for (Index round = 0; round < rounds_; ++round) pass_on(reduction, round);
  before_ = count(rounds_ - 1);
  ring_.end(rounds_);
  const std::exception_ptr failure = std::exchange(failure_, nullptr);
  if (reduction.combine->may_throw()) rethrow_anywhere(context_->topology().node(), failure);
}

void Rounds::pass_on(const Reduction& reduction, Index round) {
  const int self = board_->rank();
  const bool has_next = self + 1 < board_->ranks();
  const bool is_inclusive = reduction.deliver == Deliver::up_to_itself;
  const Index element = reduction.combine->element_bytes();
  const std::uint64_t number = count(round);
  const Index begin = round * length_;
  const Index n = std::min(length_, reduction.n - begin);
  const Index bytes = n * element;
  const std::byte* const own = reduction.in + begin * element;
  std::byte* const out = reduction.out == nullptr ? nullptr : reduction.out + begin * element;
  std::byte* const for_next = has_next ? stage_of(self, self + 1, round) : nullptr;

  if (self > 0) await_staged(self - 1, number);
  const std::byte* const before = self > 0 ? stage_of(self - 1, self, round) : nullptr;
  if (has_next && number > Board::rounds_ahead) await_reduced(self + 1, number - Board::rounds_ahead);
  const simd::Stores stores = into_stages_.next(bytes);
  const Stopwatch watch;
  // Where only the own result needs it, straight there.
  std::byte* const together = !has_next ? out : stores == simd::Stores::cached ? for_next : scratch_.data();
  const std::byte* result = own;
  if (before != nullptr && (has_next || is_inclusive)) {
    try {
      if (!failure_) (*reduction.combine)(n, before, own, together);
    } catch (...) {
      failure_ = std::current_exception();
    }
    result = together;
  }
  if (has_next) {
    if (result != for_next) simd::stream_copy(for_next, result, bytes, isa_, stores);
    into_stages_.took(bytes, watch.seconds());
    publish_staged(number);
  }
  if (!is_inclusive) result = before;
  if (result != nullptr && out != nullptr && result != out) std::memcpy(out, result, static_cast<std::size_t>(bytes));
  std::atomic_ref(board_->control(self).reduced.rounds).store(number, std::memory_order_release);
  std::atomic_ref(board_->control(self).copied.rounds).store(number, std::memory_order_release);
}

}  // namespace plait::collective::node
