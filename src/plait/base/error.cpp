#include "plait/base/error.hpp"

#include <new>

#include <fmt/format.h>

namespace plait {

void expect_at_least(std::string_view argument, Index value, Index least) {
  if (value < least) throw ArgumentError(fmt::format("{}: {}, expected at least {}", argument, value, least));
}

void throw_error(ErrorKind kind, const std::string& text, int rank) {
  switch (kind) {
    case ErrorKind::argument: throw ArgumentError(text);
    case ErrorKind::shape: throw ShapeMismatch(text);
    case ErrorKind::layout: throw LayoutError(text);
    case ErrorKind::file: throw FileError(text);
    case ErrorKind::mpi: throw MpiError(text);
    case ErrorKind::peer_failed: throw PeerFailed(rank, text);
    case ErrorKind::out_of_memory: throw OutOfMemory(text);
    case ErrorKind::other: break;
  }
  throw Error(ErrorKind::other, text);
}

ErrorKind current_error_kind() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    return error.kind();
  } catch (const std::bad_alloc&) {
    return ErrorKind::out_of_memory;
  } catch (...) {
    return ErrorKind::other;
  }
}

}  // namespace plait
