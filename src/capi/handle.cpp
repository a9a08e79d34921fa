#include "capi/handle.hpp"

#include <map>
#include <mutex>

namespace plait::capi {

namespace {

struct Handles {
  std::mutex mutex;
  std::map<const void*, const void*> kinds;
};

// Never destroyed, as programs may free handles while they end.
Handles& handles() {
  static auto* const all = new Handles;  // NOLINT(cppcoreguidelines-owning-memory)
  return *all;
}

}  // namespace

Registration::Registration(const void* kind) : kind_(kind) {
  Handles& all = handles();
  const std::lock_guard lock(all.mutex);
  all.kinds.emplace(this, kind);
}

Registration::~Registration() {
  Handles& all = handles();
  const std::lock_guard lock(all.mutex);
  all.kinds.erase(this);
}

bool is_handle(const void* address, const void* kind) noexcept {
  Handles& all = handles();
  const std::lock_guard lock(all.mutex);
  const auto found = all.kinds.find(address);
  return found != all.kinds.end() && found->second == kind;
}

}  // namespace plait::capi
