#include "plait/mpi/request.hpp"

#include "plait/base/backoff.hpp"
#include "plait/base/contract.hpp"
#include "plait/mpi/environment.hpp"
#include "plait/mpi/error.hpp"

namespace plait::mpi {

namespace {

// Of a message of bytes.
Index received_bytes(MPI_Status& status) {
  if constexpr (is_simulated) {  // SMPI does not know the other call
    int bytes = 0;
    check(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
    return bytes;
  } else {
    MPI_Count bytes = 0;
    check(MPI_Get_elements_x(&status, MPI_BYTE, &bytes), "MPI_Get_elements_x");
    return static_cast<Index>(bytes);
  }
}

// MPI_Testsome and MPI_Waitsome.
using Some = int(int, MPI_Request*, int*, int*, MPI_Status*);

std::span<const Completion> some(const char* name, Some* call, std::span<MPI_Request> requests,
                                 std::span<Completion> completions, std::span<int> indices,
                                 std::span<MPI_Status> statuses) {
  PLAIT_ASSERT(
      completions.size() >= requests.size() && indices.size() >= requests.size() && statuses.size() >= requests.size(),
      "there is room for every completion");
  int count = 0;
  const int code = call(static_cast<int>(requests.size()), requests.data(), &count, indices.data(), statuses.data());
  if (count == MPI_UNDEFINED) count = 0;
  if (code == MPI_ERR_IN_STATUS) {
    for (int i = 0; i < count; ++i) check(statuses[static_cast<std::size_t>(i)].MPI_ERROR, name);
  }
  check(code, name);
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    completions[i] = {indices[i], received_bytes(statuses[i])};
  }
  return completions.first(static_cast<std::size_t>(count));
}

}  // namespace

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
  if constexpr (is_simulated) return check(MPI_Wait(&handle_, MPI_STATUS_IGNORE), "MPI_Wait");
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
  return some("MPI_Testsome", MPI_Testsome, requests, completions, indices, statuses);
}

std::span<const Completion> wait_some(std::span<MPI_Request> requests, std::span<Completion> completions,
                                      std::span<int> indices, std::span<MPI_Status> statuses) {
  return some("MPI_Waitsome", MPI_Waitsome, requests, completions, indices, statuses);
}

}  // namespace plait::mpi
