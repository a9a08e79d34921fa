#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/vector.hpp"
#include "plait/mpi/context.hpp"
#include "plait/mpi/node/shared_memory.hpp"
#include "plait/mpi/request.hpp"

namespace plait::mpi {

/// Memory for one record of numbers, which several processes write and one reads, none of whom ever waits. Its sequence
/// number is odd while somebody writes. A view; the memory is 0 at first.
class MailboxSlot {
 public:
  [[nodiscard]] static Index bytes(Index numbers) noexcept;
  explicit MailboxSlot(std::byte* memory) noexcept : memory_(memory) {}

  /// The right to write, unless another one has it: the sequence number to release it with, or nothing.
  [[nodiscard]] std::optional<std::uint64_t> claim() const noexcept;
  void release(std::uint64_t claimed) const noexcept;
  /// Writes the whole record.
  /// \returns false, and nothing was written, while another one writes
  bool put(std::span<const double> record) const noexcept;

  enum class Outcome : unsigned char { taken, nothing, torn };
  /// The record, if there is another one than that with the sequence number `seen`, which becomes its.
  /// \returns torn where somebody wrote meanwhile: `record` then has parts of several ones
  Outcome take(std::uint64_t& seen, std::span<double> record) const noexcept;

 private:
  [[nodiscard]] std::uint64_t& sequence() const noexcept;
  [[nodiscard]] double* numbers() const noexcept;

  std::byte* memory_;
};

/// Records of numbers that ranks put into each other's slots, for asynchronous methods: nobody waits for anybody, and
/// records are lost. A slot has the last record that was put into it; one that comes while another is being written, or
/// while the last one for that rank is under way, is refused. What is taken is a whole record, never parts of several.
///
/// Ranks of a node write to each other's shared memory. Others, or all where there is too little of it, send messages,
/// one at a time to each: they are received, and answered, whenever their receiver puts or takes, so they need no
/// progress of MPI's own, and one who does neither keeps one message waiting of each rank at most. Records of one rank
/// in one slot are never overtaken by older ones.
///
/// A rank that is slow, or destroys its mailbox early, does not stop the others: what is put to it is refused, or never
/// read.
class Mailbox {
 public:
  /// \param numbers  of a record
  /// \param slots    of each rank, and how many messages of it may be under way
  /// Collective.
  /// \pre  numbers >= 0 and slots >= 1
  /// \throws ArgumentError  on all ranks, where these differ
  /// \throws OutOfMemory  on all ranks, where one has too little
  Mailbox(Context& context, Index numbers, Index slots);
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;
  /// Where there are messages: collective, and goes on receiving until all ranks have come here. MPI's errors poison
  /// the context.
  ~Mailbox();

  /// Local; returns at once.
  /// \returns whether it was not refused; it may be overwritten before it is read, all the same
  bool put(int to, Index slot, std::span<const double> record);
  /// The newest record of one of this rank's slots, if it was not taken yet. Local; returns at once.
  /// \returns false, and `record` has no meaning, if there is none
  bool take(Index slot, std::span<double> record);

  [[nodiscard]] Index slots() const noexcept { return seen_.count(); }
  struct Counts {
    Index put = 0, refused = 0, taken = 0, torn = 0;
  };
  [[nodiscard]] const Counts& counts() const noexcept { return counts_; }

 private:
  struct Outgoing {
    int to = -1;  // where nothing is under way
    std::vector<double> record;
    Request request;
  };

  [[nodiscard]] MailboxSlot slot_of(int rank, Index slot) const;
  [[nodiscard]] bool has_memory_of(int rank) const;
  bool send(int to, Index slot, std::span<const double> record);
  bool receive();
  void close();

  Context& context_;
  Index numbers_;
  SharedMemory memory_;
  std::optional<SharedPlace> place_;
  Vector<std::uint64_t> seen_;
  Counts counts_;
  bool has_messages_ = false;
  // Of messages: a record begins with its slot, an empty one is the answer.
  Tags tags_;
  std::vector<Outgoing> outgoing_;
  std::vector<double> incoming_;
  int from_ = -1;  // where one comes in
  Request arrival_, answer_;
};

}  // namespace plait::mpi
