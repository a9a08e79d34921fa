#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "plait/collective/group.hpp"
#include "plait/collective/stream.hpp"
#include "plait/mpi/communicator.hpp"
#include "plait/mpi/context.hpp"
#include "plait/mpi/reduction.hpp"

namespace plait::collective {

/// The same collectives by the MPI library's own non-blocking ones: every strand has a communicator of its own, so that
/// the strands are under way together. To compare with, and for networks that carry out collectives by themselves.
///
/// Builders append requests, one for each segment, that start in the order of positions. A stream for them has one
/// segment a strand (more of them share the communicator).
///
/// Source: Huang, Chow: "Overlapping communications with other communications …", section III.A, Algorithm 2, whose
/// N_DUP is the number of strands.
class MpiStrands {
 public:
  /// Collective over the group, whose other ranks make nothing; ranks that make several do so in the same order.
  /// \throws OutOfMemory  on all ranks of the group, where one has too little
  /// \param strands  how many communicators: at least as many as the streams have
  MpiStrands(const mpi::Context& context, Group group, int strands);

  /// data of all ranks ← data of `root`. Arguments and results are as in `broadcast_chain`.
  [[nodiscard]] Stream broadcast(Graph& graph, int root, const Stream& stream, Place data) const;
  /// As `reduce_chain`, by one of MPI's operations or a user's MPI_Op. The MPI library may combine in another order
  /// than plait, or on other runs.
  /// \throws ArgumentError  also for maximum and minimum of unsigned integers, which MPI libraries compare as signed
  [[nodiscard]] Stream reduce(Graph& graph, int root, const Stream& stream, Place in, Place out,
                              const mpi::Reduction& reduction) const;
  /// out of all ranks ← in[0] op in[1] op …
  [[nodiscard]] Stream allreduce(Graph& graph, const Stream& stream, Place in, Place out,
                                 const mpi::Reduction& reduction) const;

 private:
  using Communicators = std::vector<mpi::Communicator>;

  template <class Start>
  [[nodiscard]] Stream append(Graph& graph, const Stream& stream, Place in, Place out, const Start& start) const;
  void check(const Stream& stream, const mpi::Reduction& reduction) const;

  Group group_;
  std::shared_ptr<const Communicators> strands_;  // graphs have a share, too
};

/// Which rank failed in a run, told to all ranks by one more collective of the MPI library's at its end: its others
/// know no empty messages, and carry on with whatever a computation that failed has left.
struct MpiVerdict {
  /// \param its  a duplicate of the context's communicator
  explicit MpiVerdict(mpi::Communicator its) : comm(std::move(its)), failed_here(comm.size()), lowest(comm.size()) {}

  mpi::Communicator comm;
  Index failed_here;  ///< since the last verdict: this rank, or the number of ranks if none
  Index lowest;       ///< of all ranks
};

/// f, which tells when it throws.
[[nodiscard]] std::function<void(std::span<std::byte> elements, Index first)> told_to(
    std::shared_ptr<MpiVerdict> verdict, std::function<void(std::span<std::byte> elements, Index first)> f);

/// At the end of a graph, after the whole of the stream: where a rank failed, the others throw PeerFailed.
void append_verdict(Graph& graph, const std::shared_ptr<MpiVerdict>& verdict, const Stream& stream,
                    const std::string& label);

}  // namespace plait::collective
