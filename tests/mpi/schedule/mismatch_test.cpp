// Graphs of two ranks that do not fit each other: a mistake of whoever built them.
#include <mpi.h>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "plait/base/contract.hpp"
#include "plait/base/error.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/message.hpp"
#include "plait/schedule/schedule.hpp"

#include "mpi/schedule/ring.hpp"
#include "mpi/schedule/words.hpp"

namespace plait::test {
namespace {

using schedule::Position;

#if PLAIT_ASSERT_LEVEL >= 3

struct Mismatch : Ring {
  void expect_mismatch(Graph graph) {
    Words words(2);
    Schedule schedule(context, std::move(graph), "mismatch");
    EXPECT_THROW(schedule.start(std::vector{output(words)}), ContractViolation);
  }
};

TEST_F(Mismatch, of_lengths_is_found_on_every_rank) {
  Graph graph;
  const SlotId slot = graph.output(16);
  graph.send({}, right, {slot, 0, rank == 0 ? 7 : 8});
  graph.receive({}, left, {slot, 8, 8});
  expect_mismatch(std::move(graph));
}

TEST_F(Mismatch, of_positions_is_found_on_every_rank) {
  for (const Position& other : {Position{1, 0, 0}, Position{0, 1, 0}, Position{0, 0, 1}}) {
    Graph graph(2);
    const SlotId slot = graph.output(16);
    graph.send(rank == 0 ? other : Position{}, right, {slot, 0, 8});
    graph.receive({}, left, {slot, 8, 8});
    expect_mismatch(std::move(graph));
  }
}

TEST_F(Mismatch, of_peers_is_found_on_every_rank) {
  Graph graph;
  const SlotId slot = graph.output(16);
  graph.send({}, right, {slot, 0, 8});
  if (rank != 0) graph.receive({}, left, {slot, 8, 8});
  expect_mismatch(std::move(graph));
}

TEST_F(Mismatch, of_orders_of_messages_at_different_positions_is_none) {
  Graph graph(2);
  const SlotId slot = graph.output(32);
  const Index first = rank % 2;
  for (const Index strand : {first, 1 - first}) graph.send({0, strand, 0}, right, {slot, 8 * strand, 8});
  for (const Index strand : {0, 1}) graph.receive({0, strand, 0}, left, {slot, 16 + 8 * strand, 8});
  Words words(4);
  Schedule schedule(context, std::move(graph), "orders");
  EXPECT_NO_THROW(schedule.start(std::vector{output(words)}));
  schedule.wait();
}

#else

using Mismatch = Ring;

// Rank 0 sends another number of bytes than its right neighbour expects.
void expect_error_of_receiver(Mismatch& ring, Index bytes) {
  Graph graph;
  const SlotId slot = graph.output(32);
  graph.send({}, ring.right, {slot, 0, ring.rank == 0 ? bytes : 8});
  graph.receive({}, ring.left, {slot, 16, 8});
  Schedule schedule(ring.context, std::move(graph), "lengths");
  Words words(4);
  schedule.start(std::vector{output(words)});
  if (ring.left != 0) {
    EXPECT_NO_THROW(schedule.wait());
    return;
  }
  EXPECT_THROW(schedule.wait(), MpiError);
  EXPECT_THROW(schedule.wait(), MpiError) << "a run that can't be finished says so again";
  EXPECT_THROW(ring.context.expect_usable(), MpiError);
  EXPECT_THROW(schedule.start(std::vector{output(words)}), MpiError);
  EXPECT_FALSE(schedule.active());
}

TEST_F(Mismatch, with_a_shorter_message_is_an_error_of_the_receiver_and_poisons_its_context) {
  expect_error_of_receiver(*this, 7);
}

// The memory of what was not received yet is its owner's again.
TEST_F(Mismatch, takes_the_other_receives_back) {
  Words words(4, 7);
  constexpr Index strands = 2;
  const int first_tag = context.reserve_tags(strands).first();  // given back at once: the schedule's tags
  {
    Graph graph(strands);
    const SlotId slot = graph.output(32);
    if (rank == 0) graph.send({0, 0, 0}, right, {slot, 0, 7});
    if (left == 0) {
      graph.receive({0, 0, 0}, left, {slot, 8, 8});
      graph.receive({1, 1, 0}, left, {slot, 16, 8});
    }
    Schedule schedule(context, std::move(graph), "lengths");
    schedule.start(std::vector{output(words)});
    if (left == 0) {
      EXPECT_THROW(schedule.wait(), MpiError);
    } else {
      schedule.wait();
    }
  }
  mpi::barrier(context.comm());
  const Words late{99};
  mpi::Request sending;
  if (rank == 0) sending = mpi::start_send(context.comm(), std::as_bytes(std::span(late)), right, first_tag + 1);
  if (left == 0) {
    Words received(1);
    mpi::receive<std::uint64_t>(context.comm(), received, left, first_tag + 1);
    EXPECT_EQ(received, late);
    EXPECT_EQ(words[2], 7U);
  }
  sending.wait();
}

TEST_F(Mismatch, with_a_longer_message_is_one_if_mpi_does_not_end_the_program) {
  if (ranks == 1) return;  // Open MPI does not notice
  MPI_Errhandler usual = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &usual);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);  // MPICH reports it there
  expect_error_of_receiver(*this, 16);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, usual);
  MPI_Errhandler_free(&usual);
}

#endif

}  // namespace
}  // namespace plait::test
