#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "plait/collective/stream.hpp"
#include "plait/mpi/communicator.hpp"
#include "plait/mpi/context.hpp"

namespace plait::collective {

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
