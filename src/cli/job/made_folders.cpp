#include "cli/job/made_folders.hpp"

#include <system_error>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/io/file.hpp"

namespace plait::cli {

namespace fs = std::filesystem;

MadeFolders::MadeFolders(const std::string& folder) : folder_(folder) {
  std::error_code failure;
  const auto status = fs::status(folder, failure);
  if (!fs::status_known(status)) throw io::system_error(folder, "can't be made a folder", failure.value());
  was_there_ = fs::is_directory(status);
  if (was_there_) return;
  if (fs::exists(status)) throw FileError(fmt::format("{}: is no folder", folder));
  if (fs::is_symlink(fs::symlink_status(folder, failure))) {
    throw FileError(fmt::format("{}: is a symbolic link to nothing; expected a folder, or nothing", folder));
  }
  for (fs::path at = folder; !at.empty() && !fs::exists(at, failure); at = at.parent_path()) missing_.push_back(at);
}

MadeFolders::~MadeFolders() {
  std::error_code not_empty;
  for (const fs::path& folder : missing_) {
    if (fs::is_directory(folder, not_empty)) fs::remove(folder, not_empty);
  }
}

void MadeFolders::make() {
  std::error_code failure;
  fs::create_directories(folder_, failure);
  if (failure) throw io::system_error(folder_, "can't be made a folder", failure.value());
}

}  // namespace plait::cli
