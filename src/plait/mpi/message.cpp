#include "plait/mpi/message.hpp"

#include <mpi.h>

#include <algorithm>
#include <climits>

#include "plait/mpi/error.hpp"

namespace plait::mpi {

namespace {

constexpr int unsent_tag = 15;  // of plait's control messages, and none has it

// `count` bytes as one item of an MPI type: whole blocks and a rest. Lives as long as it takes to post the message; MPI
// keeps a freed type alive while a communication uses it.
class LongType {
 public:
  explicit LongType(std::size_t bytes) {
    constexpr std::size_t block = std::size_t{1} << 30;
    const auto blocks = static_cast<int>(bytes / block);
    const auto rest = static_cast<int>(bytes % block);
    MPI_Datatype one_block = MPI_DATATYPE_NULL;
    check(MPI_Type_contiguous(static_cast<int>(block), MPI_BYTE, &one_block), "MPI_Type_contiguous");
    const int lengths[] = {blocks, rest};
    const MPI_Aint places[] = {0, static_cast<MPI_Aint>(block) * blocks};
    const MPI_Datatype types[] = {one_block, MPI_BYTE};
    const int code = MPI_Type_create_struct(2, lengths, places, types, &type_);
    MPI_Type_free(&one_block);
    check(code, "MPI_Type_create_struct");
    check(MPI_Type_commit(&type_), "MPI_Type_commit");
  }
  LongType(const LongType&) = delete;
  LongType& operator=(const LongType&) = delete;
  ~LongType() { MPI_Type_free(&type_); }
  [[nodiscard]] MPI_Datatype type() const noexcept { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

}  // namespace

Request start_send(const Communicator& comm, std::span<const std::byte> bytes, int to, int tag) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (bytes.size() <= INT_MAX) {
    check(MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, tag, comm.handle(), &request),
          "MPI_Isend");
  } else {
    const LongType type(bytes.size());
    check(MPI_Isend(bytes.data(), 1, type.type(), to, tag, comm.handle(), &request), "MPI_Isend");
  }
  return Request(request);
}

Request start_receive(const Communicator& comm, std::span<std::byte> bytes, int from, int tag) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (bytes.size() <= INT_MAX) {
    check(MPI_Irecv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, from, tag, comm.handle(), &request),
          "MPI_Irecv");
  } else {
    const LongType type(bytes.size());
    check(MPI_Irecv(bytes.data(), 1, type.type(), from, tag, comm.handle(), &request), "MPI_Irecv");
  }
  return Request(request);
}

std::optional<Arrival> probe(const Communicator& comm, int tag) {
  int found = 0;
  MPI_Status status;
  check(MPI_Iprobe(MPI_ANY_SOURCE, tag, comm.handle(), &found, &status), "MPI_Iprobe");
  if (found == 0) return std::nullopt;
  MPI_Count bytes = 0;
  check(MPI_Get_elements_x(&status, MPI_BYTE, &bytes), "MPI_Get_elements_x");
  return Arrival{status.MPI_SOURCE, bytes == 0};
}

// The next message is posted before the last one is waited for, so that the link does not fall idle in between.
void send_bytes(const Communicator& comm, std::span<const std::byte> bytes, int to, int tag) {
  Request last;
  do {
    const auto piece = bytes.first(std::min(bytes.size(), static_cast<std::size_t>(longest_message)));
    Request next = start_send(comm, piece, to, tag);
    last.wait();
    last = std::move(next);
    bytes = bytes.subspan(piece.size());
  } while (!bytes.empty());
  last.wait();
}

void receive_bytes(const Communicator& comm, std::span<std::byte> bytes, int from, int tag) {
  Request last;
  do {
    const auto piece = bytes.first(std::min(bytes.size(), static_cast<std::size_t>(longest_message)));
    Request next = start_receive(comm, piece, from, tag);
    last.wait();
    last = std::move(next);
    bytes = bytes.subspan(piece.size());
  } while (!bytes.empty());
  last.wait();
}

// A probe that finds something need not look at the network, so it is for what is never sent. That it failed, the call
// of MPI to which the failure belongs will tell.
void progress(const Communicator& comm) noexcept {
  int found = 0;
  MPI_Iprobe(comm.rank(), unsent_tag, comm.handle(), &found, MPI_STATUS_IGNORE);
}

}  // namespace plait::mpi
