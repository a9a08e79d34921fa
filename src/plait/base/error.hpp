#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "plait/base/index.hpp"

namespace plait {

/// What went wrong, in a form that can be sent to other ranks (see `mpi::agree`).
enum class ErrorKind : int { argument, shape, layout, file, mpi, peer_failed, out_of_memory, other };

/// Base of everything that plait throws because of what it was given or what happened around it. Mistakes of the
/// library itself are `ContractViolation`s.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& text) : std::runtime_error(text), kind_(kind) {}
  [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

/// An argument has a value that it may not have. The text names the argument, its value and what was expected.
class ArgumentError : public Error {
 public:
  explicit ArgumentError(const std::string& text) : Error(ErrorKind::argument, text) {}
};

/// Two matrices do not fit each other. The text names both with their shapes.
class ShapeMismatch : public Error {
 public:
  explicit ShapeMismatch(const std::string& text) : Error(ErrorKind::shape, text) {}
};

/// A layout is malformed or can't be had on the ranks that there are.
class LayoutError : public Error {
 public:
  explicit LayoutError(const std::string& text) : Error(ErrorKind::layout, text) {}
};

/// A file is missing, malformed, or can't be read or written. The text begins with its path.
class FileError : public Error {
 public:
  explicit FileError(const std::string& text) : Error(ErrorKind::file, text) {}
};

/// An MPI call failed; the context that it was made on can't be used any more.
class MpiError : public Error {
 public:
  explicit MpiError(const std::string& text) : Error(ErrorKind::mpi, text) {}
};

/// What this rank waited for never came, because another rank failed. That rank's own exception tells why.
class PeerFailed : public Error {
 public:
  explicit PeerFailed(int rank, const std::string& text) : Error(ErrorKind::peer_failed, text), rank_(rank) {}
  /// The rank, in the communicator of the operation, from which the failure reached this one.
  [[nodiscard]] int rank() const noexcept { return rank_; }

 private:
  int rank_;
};

/// Memory that could not be had, told by the rank that ran out of it.
class OutOfMemory : public Error {
 public:
  explicit OutOfMemory(const std::string& text) : Error(ErrorKind::out_of_memory, text) {}
};

/// \throws ArgumentError  `value` is below `least`; naming the argument and both
void expect_at_least(std::string_view argument, Index value, Index least);

/// Throws the class that belongs to `kind`, with this text. `rank` is the rank that failed, kept by `PeerFailed`.
[[noreturn]] void throw_error(ErrorKind kind, const std::string& text, int rank = -1);

/// The kind of the exception that is being handled; call it inside a `catch` block.
[[nodiscard]] ErrorKind current_error_kind() noexcept;

}  // namespace plait
