#include "capi/error.hpp"

#include <array>
#include <cstring>

#include "plait/base/error.hpp"
#include "plait/purify/purification.hpp"

namespace plait::capi {

namespace {

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
