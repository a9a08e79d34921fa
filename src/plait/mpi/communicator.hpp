#pragma once

#include <mpi.h>

#include <span>
#include <utility>

namespace plait::mpi {

/// A group of ranks that talk to each other. Either borrowed from the caller, who keeps it alive, or owned and freed
/// with this object. On an owned one MPI's errors come back as `MpiError`; a borrowed one keeps the caller's error
/// handler. (MPICH reports errors in messages under way, such as one too long for its receiver, to the handler of the
/// communicator of all ranks instead, which ends the program unless it was told to return.)
class Communicator {
 public:
  /// A view of the caller's communicator. Local.
  [[nodiscard]] static Communicator borrowed(MPI_Comm comm);

  /// A duplicate, whose messages never meet those of the original. Collective over `comm`.
  [[nodiscard]] static Communicator duplicate(MPI_Comm comm);

  /// The ranks that gave the same color, numbered by key. Collective over this communicator.
  [[nodiscard]] Communicator split(int color, int key) const;

  /// The same processes in another order: rank r of the result is rank `rank_of[r]` of this communicator. `rank_of` is
  /// a permutation, the same on all ranks. Collective over this communicator.
  ///
  /// \throws ArgumentError  on every rank, if it is no permutation on one of them, or not the same one on all
  [[nodiscard]] Communicator permuted(std::span<const int> rank_of) const;

  /// Some ranks of this communicator, in this order. Collective over these alone, who give the same ones; several
  /// groups at a time tell each other apart by `tag`, from 0 to 32,767.
  [[nodiscard]] Communicator subset(std::span<const int> ranks, int tag) const;

  /// The ranks that share memory with this one. Collective over this communicator.
  [[nodiscard]] Communicator split_by_node() const;

  Communicator(Communicator&& other) noexcept
      : comm_(std::exchange(other.comm_, MPI_COMM_NULL)),
        owned_(std::exchange(other.owned_, false)),
        rank_(other.rank_),
        size_(other.size_) {}
  Communicator& operator=(Communicator&& other) noexcept;
  ~Communicator();

  [[nodiscard]] MPI_Comm handle() const noexcept { return comm_; }
  /// The communicator, for the caller to free; nothing is left here.
  [[nodiscard]] MPI_Comm release() noexcept {
    owned_ = false;
    return std::exchange(comm_, MPI_COMM_NULL);
  }
  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }

  /// The highest tag that messages may have; MPI guarantees 32,767.
  [[nodiscard]] int highest_tag() const;

 private:
  Communicator(MPI_Comm comm, bool owned);

  MPI_Comm comm_ = MPI_COMM_NULL;
  bool owned_ = false;
  int rank_ = 0;
  int size_ = 0;
};

}  // namespace plait::mpi
