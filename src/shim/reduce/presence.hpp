#pragma once

#include <mpi.h>

#include <optional>
#include <vector>

namespace plait::shim::reduce {

/// Lets the other processes of this job on this node know that this one has the library. A launcher may have given it
/// to some of the ranks only (mpirun of Open MPI keeps LD_PRELOAD from other nodes, and its programs may have
/// environments of their own); what the ranks of a communicator do together they may do only where all of them have it,
/// and those that lack it can't be asked.
///
/// Nothing is announced where others have given up on this process.
///
/// \param world_rank          of this process
/// \param wants_reproducible  what it asks sums to be
void announce_presence(int world_rank, bool wants_reproducible) noexcept;

/// Whether processes of these ranks have announced themselves on this node, or such as want reproducible sums. Local,
/// some microseconds for each of them.
[[nodiscard]] bool are_present(const std::vector<int>& world_ranks) noexcept;
[[nodiscard]] bool want_reproducible(const std::vector<int>& world_ranks) noexcept;
[[nodiscard]] bool wants_reproducible(int world_rank) noexcept;

/// The first of them that has not announced itself.
[[nodiscard]] std::optional<int> first_absent(const std::vector<int>& world_ranks) noexcept;

/// Waits no longer for a process that has not announced itself. From then on it can't, so that all who look decide
/// alike, whenever they do.
/// \return  false if it is about to announce itself just now, or another process to give up on it: one of these is seen
///          in a moment
[[nodiscard]] bool give_up_on(int world_rank) noexcept;

/// Whether somebody has given up on one of them.
[[nodiscard]] bool is_any_given_up(const std::vector<int>& world_ranks) noexcept;

/// Whether all processes of this job are on this node, as far as the launcher tells.
[[nodiscard]] bool is_job_on_one_node() noexcept;

/// The ranks of a communicator's processes among all that were started together; -1 for others.
[[nodiscard]] std::vector<int> world_ranks_of(MPI_Comm comm);

}  // namespace plait::shim::reduce
