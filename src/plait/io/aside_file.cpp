#include "plait/io/aside_file.hpp"

#include <fcntl.h>
#include <limits.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "plait/base/contract.hpp"

namespace plait::io {

namespace {

namespace fs = std::filesystem;

// Where the links that `path` may be lead to, whether or not something is there.
fs::path without_links(const std::string& path) {
  constexpr int most_links = 40;  // as Linux has it
  fs::path at = path;
  std::error_code failure;
  for (int links = 0; fs::is_symlink(at, failure); ++links) {
    if (links == most_links) throw system_error(path, "can't be written", ELOOP);
    const fs::path target = fs::read_symlink(at, failure);
    if (failure) throw system_error(path, "can't be written", failure.value());
    at = at.parent_path() / target;  // an absolute target replaces the folder
  }
  return at;
}

fs::path folder_of(const fs::path& target) { return target.has_parent_path() ? target.parent_path() : fs::path("."); }

void expect_replaceable(const std::string& path, const fs::path& target) {
  std::error_code failure;
  const auto folder = folder_of(target);
  if (!fs::is_directory(folder, failure)) {
    const int reason = failure ? failure.value() : ENOTDIR;
    throw system_error(path, fmt::format("can't be written into the folder {}", folder.string()), reason);
  }
  // Not every file system minds before the file gets its name.
  const long longest_name = ::pathconf(folder.c_str(), _PC_NAME_MAX);
  if (longest_name > 0 && target.filename().native().size() > static_cast<std::size_t>(longest_name)) {
    throw system_error(path, "can't be written", ENAMETOOLONG);
  }
  const auto status = fs::status(path, failure);  // of links into /proc, such as /dev/stdout, only the system knows it
  if (!fs::status_known(status)) throw system_error(path, "can't be examined", failure.value());
  if (fs::is_directory(status) || !target.has_filename()) {
    throw FileError(fmt::format("{}: is a directory; expected the name of a file", path));
  }
  if (!fs::exists(status)) return;
  if (!fs::is_regular_file(status)) {
    throw FileError(fmt::format("{}: is no regular file, and nothing else is replaced", path));
  }
  if (::access(target.c_str(), W_OK) == -1) throw system_error(path, "can't be replaced", errno);
}

// A write beyond this limit would end the process by a signal.
void expect_within_file_size_limit(const std::string& path, Index bytes) {
  struct rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == -1 || limit.rlim_cur == RLIM_INFINITY) return;
  if (static_cast<rlim_t>(bytes) <= limit.rlim_cur) return;
  throw FileError(fmt::format("{}: needs {} bytes, but this process may write files of {} bytes only (ulimit -f)", path,
                              bytes, limit.rlim_cur));
}

// Within what the number of a process is one process only: this boot of this machine, and a namespace of it. As digits,
// with a dash; empty where the system does not tell.
std::string home_of_processes() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  std::error_code failure;
  const std::string names = fs::read_symlink("/proc/self/ns/pid", failure).string();
  if (boot.empty() || names.empty()) return {};
  std::uint64_t digest = 0xcbf29ce484222325U;  // FNV-1a
  for (const char c : boot + names) digest = (digest ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return fmt::format("{:016x}-", digest);
}

// Whether no process of this number runs any more. One that was killed keeps its number until whoever adopted it asks
// how it ended, which in many containers nobody does.
bool has_ended(pid_t process) {
  if (::kill(process, 0) == -1) return errno == ESRCH;
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  const std::string words{std::istreambuf_iterator<char>(file), {}};
  const auto name_end = words.rfind(')');  // proc(5): number (name) state ...; the name may hold anything
  if (name_end == std::string::npos || name_end + 2 >= words.size()) return false;
  const char state = words[name_end + 2];
  return state == 'Z' || state == 'X';
}

// Whether it was left aside by a process that is no more.
bool is_abandoned(const fs::path& file, std::string_view beginning) {
  const std::string name = file.filename().string();
  const auto at = name.rfind(beginning);
  if (at == std::string::npos || at == 0) return false;
  constexpr std::ptrdiff_t after_number = 9;  // a dash and 8 digits, see temporary_name
  const char* const end = name.data() + name.size();
  pid_t maker = 0;
  const auto [rest, failure] = std::from_chars(name.data() + at + beginning.size(), end, maker);
  if (failure != std::errc{} || maker <= 0 || end - rest != after_number || *rest != '-') return false;
  struct stat found{};
  if (::lstat(file.c_str(), &found) == -1 || !S_ISREG(found.st_mode) || found.st_uid != ::geteuid()) return false;
  return has_ended(maker);
}

// What can't be removed is in nobody's way.
void remove_abandoned(const fs::path& folder) {
  const std::string home = home_of_processes();
  if (home.empty()) return;
  const std::string beginning = ".tmp-" + home;
  std::error_code failure;
  for (fs::directory_iterator at(folder, failure), end; !failure && at != end; at.increment(failure)) {
    if (is_abandoned(at->path(), beginning)) ::unlink(at->path().c_str());
  }
}

fs::path temporary_name(const fs::path& target) {
  constexpr std::size_t longest_name = 255;
  std::random_device random;
  const std::string suffix = fmt::format(".tmp-{}{}-{:08x}", home_of_processes(), ::getpid(), random());
  return folder_of(target) / (target.filename().string().substr(0, longest_name - suffix.size()) + suffix);
}

// What replaces a private file is as private, also while it is written. The owner is kept where this process may give
// files away.
void take_permissions_of(const fs::path& target, const std::string& aside) {
  struct stat old{};
  if (::stat(target.c_str(), &old) == -1) return;
  if (::chown(aside.c_str(), old.st_uid, old.st_gid) == -1) errno = 0;
  ::chmod(aside.c_str(), (old.st_mode & 0777) | S_IWUSR);  // this process goes on to write
}

// Without this, a crash of the machine could undo the renaming.
void sync_folder(const std::string& path, const fs::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool failed = descriptor == -1 || ::fsync(descriptor) == -1;
  const int reason = errno;
  if (descriptor != -1) ::close(descriptor);
  const bool not_offered = reason == EINVAL || reason == EACCES;  // by the file system; by a folder one can't list
  if (failed && !not_offered) throw system_error(path, "its folder can't be written to the disk", reason);
}

}  // namespace

// Entries are used again and never freed, so that a handler can go through them at any moment.
struct UnfinishedFile::Entry {
  enum State : int { unused, being_written, named };
  std::atomic<int> state = being_written;
  std::array<char, PATH_MAX> path{};
  Entry* next = nullptr;
};

namespace {

std::atomic<void*> newest = nullptr;

}  // namespace

UnfinishedFile::Entry* UnfinishedFile::entries() noexcept { return static_cast<Entry*>(newest.load()); }

UnfinishedFile::UnfinishedFile(const std::string& path) {
  if (path.size() >= PATH_MAX) return;
  for (Entry* entry = entries(); entry != nullptr && entry_ == nullptr; entry = entry->next) {
    int expected = Entry::unused;
    if (entry->state.compare_exchange_strong(expected, Entry::being_written)) entry_ = entry;
  }
  if (entry_ == nullptr) {
    entry_ = new Entry;
    void* before = newest.load();
    do {
      entry_->next = static_cast<Entry*>(before);
    } while (!newest.compare_exchange_weak(before, entry_));
  }
  path.copy(entry_->path.data(), path.size());
  entry_->path[path.size()] = '\0';
  entry_->state = Entry::named;
}

UnfinishedFile::UnfinishedFile(UnfinishedFile&& other) noexcept : entry_(std::exchange(other.entry_, nullptr)) {}

UnfinishedFile& UnfinishedFile::operator=(UnfinishedFile&& other) noexcept {
  std::swap(entry_, other.entry_);
  return *this;
}

UnfinishedFile::~UnfinishedFile() {
  if (entry_ != nullptr) entry_->state = Entry::unused;
}

void remove_unfinished_files() noexcept {
  for (auto* entry = UnfinishedFile::entries(); entry != nullptr; entry = entry->next) {
    if (entry->state == UnfinishedFile::Entry::named) ::unlink(entry->path.data());
  }
}

AsideFile::AsideFile(File file, std::string target, std::string aside, bool created)
    : file_(std::move(file)),
      target_(std::move(target)),
      aside_(std::move(aside)),
      remove_(created),
      unfinished_(aside_) {}

AsideFile AsideFile::create(const std::string& path, Index bytes) {
  PLAIT_ASSERT(bytes >= 0, "a file has no negative size");
  if (path.empty()) throw ArgumentError("path is empty; expected the name of a file");
  const fs::path target = without_links(path);
  io::expect_replaceable(path, target);
  expect_within_file_size_limit(path, bytes);
  const std::string aside = temporary_name(target).string();
  const UnfinishedFile while_it_is_made(aside);  // a signal may come as soon as there is a file
  AsideFile result(File::create(aside, path), target.string(), aside, true);
  take_permissions_of(target, aside);
  result.file_.reserve(bytes);
  return result;
}

AsideFile AsideFile::join(const std::string& path, const std::string& aside, Index bytes) {
  expect_within_file_size_limit(path, bytes);
  return AsideFile(File::open_to_write(aside, path), {}, aside, false);
}

AsideFile::AsideFile(AsideFile&& other) noexcept
    : file_(std::move(other.file_)),
      target_(std::move(other.target_)),
      aside_(std::move(other.aside_)),
      remove_(std::exchange(other.remove_, false)),
      unfinished_(std::move(other.unfinished_)) {}

AsideFile::~AsideFile() {
  if (remove_) ::unlink(aside_.c_str());
}

void AsideFile::expect_replaceable(const std::string& path) { io::expect_replaceable(path, without_links(path)); }

void AsideFile::try_out(const std::string& path) {
  const AsideFile file = create(path, 0);
  remove_abandoned(folder_of(file.target_));
}

void AsideFile::publish() {
  PLAIT_ASSERT(remove_, "the process that created a file publishes it, once");
  if (std::rename(aside_.c_str(), target_.c_str()) == -1) {
    throw system_error(file_.path(), fmt::format("{} can't be renamed to it", aside_), errno);
  }
  remove_ = false;
  unfinished_ = {};
  sync_folder(file_.path(), folder_of(target_));
}

}  // namespace plait::io
