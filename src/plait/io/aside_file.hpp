#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "plait/base/index.hpp"
#include "plait/io/file.hpp"

namespace plait::io {

/// Says, as long as it lives, that a file under a temporary name is not finished: what a process that is told to end by
/// a signal has to remove.
class UnfinishedFile {
 public:
  UnfinishedFile() = default;
  /// A path that is too long for the system is none, as no file can have it.
  explicit UnfinishedFile(const std::string& path);
  UnfinishedFile(UnfinishedFile&& other) noexcept;
  UnfinishedFile& operator=(UnfinishedFile&& other) noexcept;
  ~UnfinishedFile();

 private:
  struct Entry;
  friend void remove_unfinished_files() noexcept;
  static Entry* entries() noexcept;

  Entry* entry_ = nullptr;
};

/// Removes all of them. May be called by a signal handler.
void remove_unfinished_files() noexcept;

/// A file that is written under a temporary name in its folder and gets its own name only once all of it is on the
/// disk. Whatever goes wrong before, a file that had the name stays as it was, and the temporary one is removed.
///
/// So does a signal that ends a process that wrote to it (see remove_unfinished_files).
///
/// One process creates it, others may join in writing. Symbolic links are followed, so that the link stays one.
/// All throw FileError, beginning with `path`.
class AsideFile {
 public:
  /// Makes the temporary file, with room for `bytes` bytes.
  ///
  /// \throws FileError  if the folder is missing or not writable, `path` is a directory, a device or write-protected,
  ///                    its name is too long, or there is not that much room
  [[nodiscard]] static AsideFile create(const std::string& path, Index bytes);

  /// Whether `create` could make a file of that name, as far as the name tells.
  ///
  /// \throws FileError  as `create`, but for the lack of room
  static void expect_replaceable(const std::string& path);

  /// Whether `create` can make a file of that name, by making one that is removed at once. With it go files aside in
  /// the same folder whose makers were killed: those of this user, machine and namespace of processes, where it is
  /// certain that a maker is no more.
  ///
  /// \throws FileError  as `create`
  static void try_out(const std::string& path);

  /// Opens the temporary file `aside` that another process created for `path`.
  [[nodiscard]] static AsideFile join(const std::string& path, const std::string& aside, Index bytes);

  AsideFile(AsideFile&& other) noexcept;
  AsideFile& operator=(AsideFile&&) = delete;
  /// Removes the temporary file, if this process created it and did not publish it.
  ~AsideFile();

  /// The temporary name.
  [[nodiscard]] const std::string& aside() const noexcept { return aside_; }

  /// The name that it gets, without links.
  [[nodiscard]] const std::string& target() const noexcept { return target_; }

  /// Makes room for `bytes` bytes in all, as `create` did: for one who made the file again under its temporary name.
  void reserve(Index bytes) const { file_.reserve(bytes); }

  void write_at(Index offset, std::span<const std::byte> bytes) const { file_.write_at(offset, bytes); }

  /// Returns when everything that this process wrote lies on the disk.
  void sync() const { file_.sync(); }

  /// Nothing more is written: a process that waits to publish many files has none of them open.
  void close() { file_.close(); }

  /// Gives the file its name, in the place of any that had it.
  ///
  /// \pre  this process created it; every process that joined has called `sync`
  void publish();

 private:
  AsideFile(File file, std::string target, std::string aside, bool created);

  File file_;
  std::string target_;
  std::string aside_;
  bool remove_;
  UnfinishedFile unfinished_;
};

}  // namespace plait::io
