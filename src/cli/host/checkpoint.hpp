#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "plait/mpi/context.hpp"

/// What the checkpoints of all jobs have in common. A checkpoint is a small text, and lets a file of numbers beside it,
/// its contents, be one of two by turns, a and b; it tells the one that was complete before it got its own name, so
/// that a kill at any moment leaves a checkpoint that can be gone on from. Both have checksums: a byte that is not as
/// it was written is an error.
namespace plait::cli {

/// The checksum of what a job reads: of all bytes of the file, each rank reading its part, and of an HDF5 file also of
/// which data set `path` names, or which is the only one. Any change of one byte changes it. Collective over `context`.
///
/// \throws FileError  on every rank: it can't be read
[[nodiscard]] std::uint64_t checksum_of_input(mpi::Context& context, const std::string& path);

/// "a" or "b": which contents come after those of `before`, which may be empty.
[[nodiscard]] std::string next_contents(std::string_view before);

/// Where these contents are. The checkpoint does not name the file, as names may be any bytes, but not in JSON.
[[nodiscard]] std::string contents_path(const std::string& path, const std::string& contents);

/// The checkpoint in a file; nothing, if there is no such file. Its contents are looked at, too. Collective over
/// `context`.
///
/// \param job  whose it is to be: "plait purify"
/// \throws FileError  on every rank: it can't be read, is no checkpoint of that job, or it or its contents are not as
///                    they were written
[[nodiscard]] std::optional<nlohmann::json> read_checkpoint_file(mpi::Context& context, const std::string& path,
                                                                 std::string_view job);

/// Writes a checkpoint whose contents, a or b as `checkpoint["contents"]` tells, lie there. Collective over
/// `context`.
///
/// \throws FileError  on every rank; the checkpoint that was there is as it was
void write_checkpoint_file(mpi::Context& context, const std::string& path, std::string_view job,
                           nlohmann::json checkpoint);

/// Checkpoints that a job tries to write as it goes on.
class CheckpointAttempts {
 public:
  /// `write` writes one. Where the disk does not take it, rank 0 warns, once until it does again: the last one is as it
  /// was, and the job goes on. Collective over `context`, as `write` is.
  void make(const mpi::Context& context, const std::function<void()>& write);

 private:
  bool has_failed_ = false;
};

/// Removes a checkpoint whose job is done. Collective over `context`.
void remove_checkpoint(mpi::Context& context, const std::string& path);

}  // namespace plait::cli
