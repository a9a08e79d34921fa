#include "plait/io/unfinished_file.hpp"

#include <limits.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <utility>

namespace plait::io {

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

}  // namespace plait::io
