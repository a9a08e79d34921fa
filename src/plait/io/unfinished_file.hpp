#pragma once

#include <string>

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

}  // namespace plait::io
