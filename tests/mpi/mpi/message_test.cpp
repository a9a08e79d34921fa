#include "plait/mpi/message.hpp"

#include <mpi.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/communicator.hpp"
#include "plait/mpi/request.hpp"

#include "support/ranks.hpp"

namespace {

using plait::Index;
using plait::mpi::Communicator;
using plait::mpi::Completion;
using plait::mpi::Request;
using plait::test::test_comm;

struct Messages : ::testing::Test {
  Communicator comm = Communicator::duplicate(test_comm());
  int right = (comm.rank() + 1) % comm.size();
  int left = (comm.rank() + comm.size() - 1) % comm.size();

  [[nodiscard]] static std::vector<std::byte> bytes_from(int rank, std::size_t count) {
    std::vector<std::byte> bytes(count);
    for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 7 + static_cast<std::size_t>(rank));
    return bytes;
  }
};

TEST_F(Messages, of_any_length_arrive_whole) {
  constexpr auto longest = static_cast<std::size_t>(plait::mpi::longest_message);
  for (const std::size_t count :
       {std::size_t{0}, std::size_t{1}, std::size_t{4096}, std::size_t{100001}, longest, longest + 1}) {
    const auto mine = bytes_from(comm.rank(), count);
    std::vector<std::byte> theirs(count);
    if (comm.size() == 1) {
      Request sending = plait::mpi::start_send(comm, mine, right, 3);
      Request receiving = plait::mpi::start_receive(comm, theirs, left, 3);
      receiving.wait();
      sending.wait();
    } else if (comm.rank() % 2 == 0) {  // rank 0 sends before it receives, so no circle of ranks waits
      plait::mpi::send<std::byte>(comm, mine, right, 3);
      plait::mpi::receive<std::byte>(comm, theirs, left, 3);
    } else {
      plait::mpi::receive<std::byte>(comm, theirs, left, 3);
      plait::mpi::send<std::byte>(comm, mine, right, 3);
    }
    EXPECT_TRUE(theirs == bytes_from(left, count)) << count << " bytes";
  }
}

TEST_F(Messages, carry_elements_of_any_trivial_type) {
  struct Item {
    std::int64_t row;
    float value;
  };
  const std::vector<Item> mine{{comm.rank(), 1.5F}, {-comm.rank(), 2.5F}};
  std::vector<Item> theirs(2);
  Request sending = plait::mpi::start_send(comm, std::as_bytes(std::span(mine)), right, 0);
  plait::mpi::receive<Item>(comm, theirs, left, 0);
  sending.wait();
  EXPECT_EQ(theirs[0].row, left);
  EXPECT_EQ(theirs[1].row, -left);
  EXPECT_EQ(theirs[1].value, 2.5F);
}

TEST_F(Messages, of_one_tag_do_not_overtake_each_other) {
  constexpr int count = 50;
  std::vector<Request> requests;
  std::array<int, count> out{};
  std::array<int, count> in{};
  std::iota(out.begin(), out.end(), 100 * comm.rank());
  for (std::size_t i = 0; i < count; ++i) {
    requests.push_back(plait::mpi::start_send(comm, std::as_bytes(std::span(out).subspan(i, 1)), right, 1));
    requests.push_back(plait::mpi::start_receive(comm, std::as_writable_bytes(std::span(in).subspan(i, 1)), left, 1));
  }
  plait::mpi::wait_all(requests);
  for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(in[i], 100 * left + static_cast<int>(i));
}

TEST_F(Messages, to_a_rank_that_does_not_exist_are_errors_and_not_the_end_of_the_program) {
  const std::array<std::byte, 8> data{};
  std::array<std::byte, 8> room{};
  EXPECT_THROW((void)plait::mpi::start_send(comm, data, comm.size(), 0), plait::MpiError);
  EXPECT_THROW((void)plait::mpi::start_receive(comm, room, comm.size() + 7, 0), plait::MpiError);
  EXPECT_THROW((void)plait::mpi::start_send(comm, data, 0, -5), plait::MpiError) << "nor have tags below 0";
}

// MPICH reports what goes wrong while a message arrives to the handler of MPI_COMM_WORLD, which ends the program unless
// told otherwise.
TEST_F(Messages, that_are_too_long_for_their_receiver_are_errors_there) {
  if (comm.size() == 1) return;  // Open MPI does not notice
  MPI_Errhandler usual = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &usual);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const auto mine = bytes_from(comm.rank(), 16);
  std::array<std::byte, 8> room{};
  Request receiving = plait::mpi::start_receive(comm, room, left, 0);
  plait::mpi::start_send(comm, mine, right, 0).wait();
  EXPECT_THROW(receiving.wait(), plait::MpiError);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, usual);
  MPI_Errhandler_free(&usual);
}

using Requests = Messages;

TEST_F(Requests, that_are_empty_are_complete) {
  Request nothing;
  EXPECT_TRUE(nothing.test());
  nothing.wait();
  EXPECT_EQ(nothing.release(), MPI_REQUEST_NULL);
}

TEST_F(Requests, move_and_are_waited_for_when_destroyed) {
  const auto mine = bytes_from(comm.rank(), 1 << 20);
  std::vector<std::byte> theirs(mine.size());
  {
    Request sending = plait::mpi::start_send(comm, mine, right, 0);
    Request receiving = plait::mpi::start_receive(comm, theirs, left, 0);
    Request moved(std::move(receiving));
    Request other;
    other = std::move(moved);
    EXPECT_TRUE(receiving.test()) << "what was moved from is empty";  // NOLINT(bugprone-use-after-move)
    if (comm.rank() % 2 == 1) std::this_thread::sleep_for(std::chrono::milliseconds{3});
  }
  EXPECT_TRUE(theirs == bytes_from(left, mine.size()));
}

TEST_F(Requests, are_not_complete_before_their_peer_is_there) {
  std::array<std::byte, 8> room{};
  Request receiving = plait::mpi::start_receive(comm, room, left, 0);
  EXPECT_FALSE(receiving.test());
  plait::mpi::barrier(comm);
  const auto mine = bytes_from(comm.rank(), 8);
  plait::mpi::start_send(comm, mine, right, 0).wait();
  receiving.wait();
  EXPECT_EQ(room[7], bytes_from(left, 8)[7]);
}

TEST_F(Requests, are_tested_together_with_what_each_has_received) {
  constexpr std::size_t count = 6;  // the third one stays empty
  std::array<MPI_Request, count> requests;
  requests.fill(MPI_REQUEST_NULL);
  std::array<std::array<std::byte, 64>, count> room{};
  std::array<Completion, count> completions{};
  std::array<int, count> indices{};
  std::array<MPI_Status, count> statuses{};
  EXPECT_TRUE(plait::mpi::test_some(requests, completions, indices, statuses).empty()) << "all are empty";

  for (std::size_t i = 0; i < count; ++i) {
    if (i != 3) requests[i] = plait::mpi::start_receive(comm, room[i], left, static_cast<int>(i)).release();
  }
  std::vector<Request> sending;
  std::vector<std::vector<std::byte>> data;
  for (std::size_t i = 0; i < count; ++i) data.push_back(bytes_from(comm.rank(), 10 * i));
  for (std::size_t i = 0; i < count; ++i) {
    if (i != 3) sending.push_back(plait::mpi::start_send(comm, data[i], right, static_cast<int>(i)));
  }
  std::vector<bool> seen(count, false);
  for (std::size_t done = 0; done < count - 1;) {
    for (const Completion& completion : plait::mpi::test_some(requests, completions, indices, statuses)) {
      const auto i = static_cast<std::size_t>(completion.index);
      EXPECT_EQ(completion.bytes, static_cast<Index>(10 * i));
      EXPECT_FALSE(seen[i]) << "completes once";
      EXPECT_EQ(requests[i], MPI_REQUEST_NULL);
      seen[i] = true;
      ++done;
    }
  }
  EXPECT_FALSE(seen[3]);
  plait::mpi::wait_all(sending);
}

}  // namespace
