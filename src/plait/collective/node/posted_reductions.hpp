#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "plait/base/index.hpp"
#include "plait/collective/node/reduction.hpp"
#include "plait/mpi/context.hpp"

namespace plait::collective::node {

/// Non-blocking reductions among the ranks of one node, in the order of ranks as by `NodeReducer`. A rank leaves its
/// operand in memory that the node shares, and goes on; who wants the result combines what the others have left. So a
/// reduction ends as soon as all ranks have posted it, whatever they do afterwards: no rank needs another one's
/// progress. Results that all ranks get are combined once, each rank taking pieces while there are any: of two ranks,
/// too, for each gets less from the other one's cache so than if it combined all.
///
/// The memory is not that of /dev/shm, which may be small, but the node's own: as much as the longest operands that
/// were under way at a time, kept until this and all its reductions are gone.
class PostedReductions {
 public:
  /// Collective over the context, which spans one node and is needed for this alone.
  /// \throws std::bad_alloc  on all ranks, where one has too little memory of its own
  explicit PostedReductions(mpi::Context& context);
  PostedReductions(const PostedReductions&) = delete;
  PostedReductions& operator=(const PostedReductions&) = delete;
  ~PostedReductions();

  /// Whether the ranks can see each other's memory; the same on all of them.
  [[nodiscard]] bool shares_memory() const noexcept { return memory_ != nullptr; }

  /// In bytes, the same on all ranks.
  /// \pre  shares_memory()
  [[nodiscard]] Index longest_operand() const noexcept;

  enum class Progress : unsigned char { waiting, moved, done };

  /// What is under way of one reduction, on the calling rank.
  class Running {
   public:
    virtual ~Running() = default;
    /// Does a piece of the work, if there is any, in some ten microseconds. Local. `done` means that the result is
    /// there. One thread at a time.
    /// \throws OutOfMemory  a rank had no memory for its operand, this one perhaps; the ranks get no result, nor of any
    ///                      reduction posted later
    [[nodiscard]] virtual Progress advance() = 0;
  };

  /// Reductions that the ranks post in the same order, whatever others each of them posts in between.
  class Series {
   private:
    friend class PostedReductions;
    std::uint64_t last_call_ = 0;
  };

  /// A series apart from those before. The ranks make the same calls in the same order. Local.
  /// \pre  shares_memory()
  [[nodiscard]] Series new_series() noexcept;

  /// Begins the next reduction of a series; `in` is free again when this returns, `out` when it is done. Local; costs a
  /// copy of `in`. Different threads may call in turn.
  /// \pre  shares_memory(), n * element_bytes <= longest_operand(), and the combination does not throw
  /// \throws std::bad_alloc
  [[nodiscard]] std::unique_ptr<Running> post(const Reduction& reduction, Series& series);
  /// The same with the series of all that have no other.
  [[nodiscard]] std::unique_ptr<Running> post(const Reduction& reduction) { return post(reduction, common_); }

  struct Memory;

 private:
  std::shared_ptr<Memory> memory_;
  Series common_;
  std::uint64_t series_ = 0;  // made
};

}  // namespace plait::collective::node
