#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "plait/base/index.hpp"
#include "plait/io/aside_file.hpp"
#include "plait/mpi/context.hpp"

namespace plait::io {

/// A file that all ranks write together, aside (see AsideFile): it gets its name in `commit`, and an object that is
/// destroyed before leaves everything as it was.
///
///     OutputFile file(context, path, bytes);
///     mpi::agreed(context, [&] { file.write_at(offset, part); });  // any number of times, each rank where it likes
///     file.commit();
///
/// The folder must be the same one on all ranks, as on a parallel file system.
class OutputFile {
 public:
  /// Rank 0 makes the temporary file, with room for `bytes` bytes; the others open it. Collective over `context`.
  ///
  /// \throws FileError  on every rank, beginning with the path (see AsideFile::create)
  OutputFile(mpi::Context& context, const std::string& path, Index bytes);

  /// Local.
  ///
  /// \throws FileError  on this rank: let the others know (see mpi::agreed)
  void write_at(Index offset, std::span<const std::byte> bytes) const { file_.write_at(offset, bytes); }
  [[nodiscard]] const AsideFile& file() const noexcept { return file_; }

  /// Returns when all that all ranks wrote lies on the disk and the file has its name. Collective over the context.
  ///
  /// \throws FileError  on every rank
  void commit();

 private:
  mpi::Context& context_;
  AsideFile file_;
};

}  // namespace plait::io
