#pragma once

#include <mpi.h>

#include <span>
#include <utility>

#include "plait/base/index.hpp"

namespace plait::mpi {

/// A communication under way. Movable; destroying an active one waits for it, since its buffers are in use until then.
class Request {
 public:
  Request() noexcept = default;
  explicit Request(MPI_Request handle) noexcept : handle_(handle) {}
  Request(Request&& other) noexcept : handle_(std::exchange(other.handle_, MPI_REQUEST_NULL)) {}
  Request& operator=(Request&& other) noexcept;
  ~Request();

  /// True once the communication is complete (at once for an empty request). Never blocks.
  /// \throws MpiError
  bool test();

  /// Returns when the communication is complete; waits as `Backoff` does.
  /// \throws MpiError
  void wait();

  /// Hands the MPI request over; the caller completes it.
  [[nodiscard]] MPI_Request release() noexcept { return std::exchange(handle_, MPI_REQUEST_NULL); }

 private:
  MPI_Request handle_ = MPI_REQUEST_NULL;
};

/// Takes a receive back that no message has reached yet, and lets go of it in any case. For the end of a run that an
/// error of MPI has broken off.
void abandon(MPI_Request receive) noexcept;

/// Waits for all of them, as `Backoff` does.
void wait_all(std::span<Request> requests);

/// One completed entry of `test_some`.
struct Completion {
  int index;    ///< in the array of requests
  Index bytes;  ///< received, for a receive; without meaning otherwise
};

/// Tests an array of MPI requests, some of which may be MPI_REQUEST_NULL; completed ones become MPI_REQUEST_NULL.
/// Returns the leading part of `completions` that was filled.
///
/// \pre  completions, indices and statuses are as long as requests (scratch space, so that nothing is allocated)
/// \throws MpiError
std::span<const Completion> test_some(std::span<MPI_Request> requests, std::span<Completion> completions,
                                      std::span<int> indices, std::span<MPI_Status> statuses);

/// The same, but returns when one of them at least is complete, unless all are MPI_REQUEST_NULL. It does not wait as
/// `Backoff` does, so it is for an MPI that is simulated.
std::span<const Completion> wait_some(std::span<MPI_Request> requests, std::span<Completion> completions,
                                      std::span<int> indices, std::span<MPI_Status> statuses);

}  // namespace plait::mpi
