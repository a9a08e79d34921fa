#include "plait/mpi/request.hpp"

#include "plait/base/backoff.hpp"
#include "plait/base/contract.hpp"
#include "plait/mpi/error.hpp"

namespace plait::mpi {

Request& Request::operator=(Request&& other) noexcept {
  std::swap(handle_, other.handle_);
  return *this;
}

Request::~Request() {
  if (handle_ != MPI_REQUEST_NULL) MPI_Wait(&handle_, MPI_STATUS_IGNORE);  // nowhere to report an error to
}

bool Request::test() {
  int done = 0;
  check(MPI_Test(&handle_, &done, MPI_STATUS_IGNORE), "MPI_Test");
  return done != 0;
}

void Request::wait() {
  Backoff backoff;
  while (!test()) backoff.idle();
}

void abandon(MPI_Request receive) noexcept {
  MPI_Cancel(&receive);
  MPI_Request_free(&receive);
}

void wait_all(std::span<Request> requests) {
  for (Request& request : requests) request.wait();
}

std::span<const Completion> test_some(std::span<MPI_Request> requests, std::span<Completion> completions,
                                      std::span<int> indices, std::span<MPI_Status> statuses) {
  PLAIT_ASSERT(
      completions.size() >= requests.size() && indices.size() >= requests.size() && statuses.size() >= requests.size(),
      "there is room for every completion");
  int count = 0;
  const int code =
      MPI_Testsome(static_cast<int>(requests.size()), requests.data(), &count, indices.data(), statuses.data());
  if (count == MPI_UNDEFINED) count = 0;
  if (code == MPI_ERR_IN_STATUS) {
    for (int i = 0; i < count; ++i) check(statuses[static_cast<std::size_t>(i)].MPI_ERROR, "MPI_Testsome");
  }
  check(code, "MPI_Testsome");
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    MPI_Count bytes = 0;
    check(MPI_Get_elements_x(&statuses[i], MPI_BYTE, &bytes), "MPI_Get_elements_x");
    completions[i] = {indices[i], static_cast<Index>(bytes)};
  }
  return completions.first(static_cast<std::size_t>(count));
}

}  // namespace plait::mpi
