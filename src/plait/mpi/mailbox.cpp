#include "plait/mpi/mailbox.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "plait/base/backoff.hpp"
#include "plait/base/contract.hpp"
#include "plait/base/error.hpp"
#include "plait/base/rounding.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/message.hpp"

namespace plait::mpi {

namespace {

constexpr Index cache_line = 64;

}  // namespace

Index MailboxSlot::bytes(Index numbers) noexcept {
  return cache_line + rounded_up(numbers * Index{sizeof(double)}, cache_line);
}

std::uint64_t& MailboxSlot::sequence() const noexcept { return *reinterpret_cast<std::uint64_t*>(memory_); }
double* MailboxSlot::numbers() const noexcept { return reinterpret_cast<double*>(memory_ + cache_line); }

std::optional<std::uint64_t> MailboxSlot::claim() const noexcept {
  const std::atomic_ref<std::uint64_t> sequence(this->sequence());
  std::uint64_t now = sequence.load(std::memory_order_relaxed);
  if (now % 2 == 1 || !sequence.compare_exchange_strong(now, now + 1, std::memory_order_acquire)) return std::nullopt;
  return now;
}

void MailboxSlot::release(std::uint64_t claimed) const noexcept {
  std::atomic_ref<std::uint64_t>(sequence()).store(claimed + 2, std::memory_order_release);
}

bool MailboxSlot::put(std::span<const double> record) const noexcept {
  const auto claimed = claim();
  if (!claimed) return false;
  std::atomic_thread_fence(std::memory_order_release);  // the odd number comes before any part of the record
  for (std::size_t i = 0; i < record.size(); ++i) {
    std::atomic_ref<double>(numbers()[i]).store(record[i], std::memory_order_relaxed);
  }
  release(*claimed);
  return true;
}

MailboxSlot::Outcome MailboxSlot::take(std::uint64_t& seen, std::span<double> record) const noexcept {
  const std::atomic_ref<std::uint64_t> sequence(this->sequence());
  const std::uint64_t before = sequence.load(std::memory_order_acquire);
  if (before == seen || before == 0) return Outcome::nothing;
  if (before % 2 == 1) return Outcome::torn;
  for (std::size_t i = 0; i < record.size(); ++i) {
    record[i] = std::atomic_ref<double>(numbers()[i]).load(std::memory_order_relaxed);
  }
  std::atomic_thread_fence(std::memory_order_acquire);  // all parts come before the second look
  if (sequence.load(std::memory_order_relaxed) != before) return Outcome::torn;
  seen = before;
  return Outcome::taken;
}

Mailbox::Mailbox(Context& context, Index numbers, Index slots)
    : context_(context),
      numbers_(numbers),
      memory_(context.allocate_shared(slots * MailboxSlot::bytes(numbers))),
      tags_(context.reserve_tags(1)) {
  PLAIT_ASSERT(numbers >= 0 && slots >= 1, "a record has a slot");
  agreed(context, [&](Alike& arguments) {
    arguments.add("numbers", numbers);
    arguments.add("slots", slots);
    std::ranges::fill(memory_.bytes(), std::byte{});
    if (memory_.is_shared()) place_ = context.find_shared(memory_.bytes());
    seen_.resize(slots);
    has_messages_ = context.topology().nodes() > 1 || (!memory_.is_shared() && context.size() > 1);
    if (!has_messages_) return;
    outgoing_.resize(at(std::min(slots, Index{context.size()})));
    for (Outgoing& each : outgoing_) each.record.resize(at(numbers + 1));
    incoming_.resize(at(numbers + 1));
  });
}

Mailbox::~Mailbox() {
  if (!has_messages_) return;
  try {
    close();
  } catch (const Error& error) {
    context_.poison(error.what());
  }
}

bool Mailbox::has_memory_of(int rank) const {
  return rank == context_.rank() || (memory_.is_shared() && context_.topology().class_of(rank) != PeerClass::network);
}

MailboxSlot Mailbox::slot_of(int rank, Index slot) const {
  PLAIT_ASSERT(slot >= 0 && slot < slots(), "a rank has this slot");
  std::byte* memory = rank == context_.rank() ? memory_.bytes().data() : context_.shared_address(rank, *place_);
  return MailboxSlot(memory + slot * MailboxSlot::bytes(numbers_));
}

bool Mailbox::put(int to, Index slot, std::span<const double> record) {
  PLAIT_ASSERT(static_cast<Index>(record.size()) == numbers_, "a record has its length");
  const bool was_put = has_memory_of(to) ? slot_of(to, slot).put(record) : send(to, slot, record);
  ++(was_put ? counts_.put : counts_.refused);
  return was_put;
}

bool Mailbox::take(Index slot, std::span<double> record) {
  PLAIT_ASSERT(static_cast<Index>(record.size()) == numbers_, "a record has its length");
  constexpr int most = 64;  // of what there is to do, which others may add to all the time
  for (int i = 0; has_messages_ && i < most; ++i) {
    if (!receive()) break;
  }
  const auto outcome = slot_of(context_.rank(), slot).take(seen_[slot], record);
  counts_.taken += outcome == MailboxSlot::Outcome::taken ? 1 : 0;
  counts_.torn += outcome == MailboxSlot::Outcome::torn ? 1 : 0;
  return outcome == MailboxSlot::Outcome::taken;
}

bool Mailbox::send(int to, Index slot, std::span<const double> record) {
  receive();
  Outgoing* free = nullptr;
  for (Outgoing& each : outgoing_) {
    if (each.to == to) return false;
    if (each.to < 0) free = &each;
  }
  if (free == nullptr) return false;
  free->record[0] = static_cast<double>(slot);
  std::ranges::copy(record, free->record.begin() + 1);
  free->request = start_send(context_.comm(), std::as_bytes(std::span(free->record)), to, tags_.first());
  free->to = to;
  return true;
}

/// Goes on with messages that come in: records, one at a time, and answers. True if there was anything to do.
bool Mailbox::receive() {
  const int tag = tags_.first();
  if (from_ >= 0) {
    if (!arrival_.test() || !answer_.test()) return false;
    // Ranks of the node may write to that slot just now: then this one is lost.
    slot_of(context_.rank(), static_cast<Index>(incoming_[0])).put(std::span(incoming_).subspan(1));
    answer_ = start_send(context_.comm(), {}, from_, tag);
    from_ = -1;
    return true;
  }
  const std::optional<Arrival> next = probe(context_.comm(), tag);
  if (!next) return false;
  if (next->is_empty) {
    Outgoing& answered = *std::ranges::find(outgoing_, next->from, &Outgoing::to);
    receive_bytes(context_.comm(), {}, next->from, tag);
    answered.request.wait();  // it has been received
    answered.to = -1;
  } else {
    arrival_ = start_receive(context_.comm(), std::as_writable_bytes(std::span(incoming_)), next->from, tag);
    from_ = next->from;
  }
  return true;
}

/// Answers to all messages of this rank come before its barrier, so that after it none is under way.
void Mailbox::close() {
  Backoff backoff;
  const auto receive_until = [&](const auto& is_over) {
    while (!is_over()) receive() ? backoff.reset() : backoff.idle();
  };
  receive_until([&] { return std::ranges::all_of(outgoing_, [](const Outgoing& each) { return each.to < 0; }); });
  Request all = start_barrier(context_.comm());
  receive_until([&] { return all.test(); });
  answer_.wait();
}

}  // namespace plait::mpi
