#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plait/layout/distributed_matrix.hpp"
#include "plait/mpi/context.hpp"
#include "plait/purify/purification.hpp"

namespace plait::cli {

/// Where a purification was. Its contents (see checkpoint_file.hpp) are the iterate.
struct PurifyCheckpoint {
  std::string matrix;                    // which of both contents the iterate is
  std::vector<std::uint64_t> checksums;  // of the files of H, S and Z, as far as they are given: see checksum_of_input
  int ranks = 0;
  purify::State state;
};

/// The checkpoint in a file; nothing, if there is no such file. Collective over `context`.
///
/// \throws FileError  on every rank: as read_checkpoint_file
[[nodiscard]] std::optional<PurifyCheckpoint> read_checkpoint(mpi::Context& context, const std::string& path);

/// Writes the iterate, a slab of it on each rank, then the checkpoint. Returns what it wrote, for the next turn.
/// Collective over `context`.
///
/// \param before  the iterate of the last checkpoint, empty if there is none
/// \throws FileError  on every rank; the checkpoint that was there is as it was
template <class T>
std::string write_checkpoint(mpi::Context& context, const std::string& path, const std::string& before,
                             PurifyCheckpoint checkpoint, const layout::DistributedMatrix<T>& slab);

}  // namespace plait::cli
