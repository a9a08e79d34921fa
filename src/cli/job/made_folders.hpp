#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace plait::cli {

/// Folders that were made for a job, and that a job that fails leaves no trace of: unless they are kept, those of them
/// that are empty are removed at the end.
class MadeFolders {
 public:
  /// Looks which folders on the way to this one, itself included, are missing. Processes that are going to make it
  /// together all look before any of them makes it, so that any of them removes it.
  ///
  /// \throws FileError  beginning with `folder`: its name is taken by what is no folder
  explicit MadeFolders(const std::string& folder);
  MadeFolders(const MadeFolders&) = delete;
  MadeFolders& operator=(const MadeFolders&) = delete;
  ~MadeFolders();

  /// \throws FileError  beginning with the folder
  void make();
  void keep() noexcept { missing_.clear(); }

  /// Whether the folder was there before.
  [[nodiscard]] bool was_there() const noexcept { return was_there_; }

 private:
  std::string folder_;
  std::vector<std::filesystem::path> missing_;  // the innermost first
  bool was_there_ = false;
};

}  // namespace plait::cli
