#include "capi/handle.hpp"

#include <array>
#include <map>
#include <mutex>

#include "plait/base/error.hpp"
#include "plait/mpi/environment.hpp"
#include "plait/purify/purification.hpp"

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

// Of fixed size, so that telling of a lack of memory needs no memory.
thread_local std::array<char, 4096> last_error{};

int code_of(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::argument: return PLAIT_ERROR_ARGUMENT;
    case ErrorKind::shape: return PLAIT_ERROR_SHAPE;
    case ErrorKind::layout: return PLAIT_ERROR_LAYOUT;
    case ErrorKind::file: return PLAIT_ERROR_FILE;
    case ErrorKind::mpi: return PLAIT_ERROR_MPI;
    case ErrorKind::peer_failed: return PLAIT_ERROR_PEER_FAILED;
    case ErrorKind::out_of_memory: return PLAIT_ERROR_OUT_OF_MEMORY;
    case ErrorKind::other: break;
  }
  return PLAIT_ERROR_OTHER;
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

int remember(const std::exception_ptr& failure) noexcept {
  const auto keep = [](const char* text) { std::strncpy(last_error.data(), text, last_error.size() - 1); };
  try {
    std::rethrow_exception(failure);
  } catch (const purify::NoGap& error) {
    keep(error.what());
    return PLAIT_ERROR_NO_GAP;
  } catch (const Error& error) {
    keep(error.what());
    return code_of(error.kind());
  } catch (const std::exception& error) {
    const ErrorKind kind = current_error_kind();
    keep(kind == ErrorKind::out_of_memory ? "out of memory" : error.what());
    return code_of(kind);
  } catch (...) {
    keep("an exception of unknown type");
    return PLAIT_ERROR_OTHER;
  }
}

void expect_mpi() {
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized == 0 || mpi::is_finalized()) {
    throw MpiError("MPI is not running: expected a call between MPI_Init and MPI_Finalize");
  }
}

}  // namespace plait::capi

const char* plait_last_error() { return plait::capi::last_error.data(); }

const char* plait_error_name(int code) {
  switch (code) {
    case PLAIT_SUCCESS: return "PLAIT_SUCCESS";
    case PLAIT_ERROR_ARGUMENT: return "PLAIT_ERROR_ARGUMENT";
    case PLAIT_ERROR_SHAPE: return "PLAIT_ERROR_SHAPE";
    case PLAIT_ERROR_LAYOUT: return "PLAIT_ERROR_LAYOUT";
    case PLAIT_ERROR_FILE: return "PLAIT_ERROR_FILE";
    case PLAIT_ERROR_MPI: return "PLAIT_ERROR_MPI";
    case PLAIT_ERROR_PEER_FAILED: return "PLAIT_ERROR_PEER_FAILED";
    case PLAIT_ERROR_OUT_OF_MEMORY: return "PLAIT_ERROR_OUT_OF_MEMORY";
    case PLAIT_ERROR_OTHER: return "PLAIT_ERROR_OTHER";
    case PLAIT_ERROR_NO_GAP: return "PLAIT_ERROR_NO_GAP";
    default: return "unknown error";
  }
}

const char* plait_version() { return PLAIT_VERSION; }
