#include "plait/mpi/context.hpp"

#include <mpi.h>

#include <array>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/mpi/activity.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/environment.hpp"
#include "plait/mpi/message.hpp"

#include "support/ranks.hpp"

namespace {

using plait::Index;
using plait::PeerClass;
using plait::mpi::Communicator;
using plait::mpi::Context;
using plait::mpi::Operation;
using plait::test::test_comm;
using ::testing::HasSubstr;

TEST(Communicators, that_are_borrowed_stay_the_callers) {
  {
    const Communicator borrowed = Communicator::borrowed(test_comm());
    EXPECT_EQ(borrowed.handle(), test_comm());
    EXPECT_EQ(borrowed.rank(), plait::test::rank());
    EXPECT_EQ(borrowed.size(), plait::test::ranks());
  }
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(test_comm(), &handler);
  EXPECT_EQ(handler, MPI_ERRORS_ARE_FATAL) << "the caller's error handler";
  MPI_Errhandler_free(&handler);
}

TEST(Communicators, are_split_by_color_and_numbered_by_key) {
  const Communicator all = Communicator::borrowed(test_comm());
  const Communicator part = all.split(all.rank() % 2, -all.rank());
  const int members = (all.size() + 1 - all.rank() % 2) / 2;
  EXPECT_EQ(part.size(), members);
  EXPECT_EQ(part.rank(), members - 1 - all.rank() / 2);
}

TEST(Communicators, move) {
  Communicator first = Communicator::duplicate(test_comm());
  const MPI_Comm handle = first.handle();
  Communicator second(std::move(first));
  EXPECT_EQ(second.handle(), handle);
  Communicator third = Communicator::duplicate(test_comm());
  third = std::move(second);
  EXPECT_EQ(third.handle(), handle);
  EXPECT_EQ(plait::mpi::all_reduce(third, 1, Operation::sum()), third.size());
}

TEST(Contexts, have_messages_of_their_own) {
  Context first(test_comm());
  Context second(test_comm());
  const int right = (first.rank() + 1) % first.size();
  const int left = (first.rank() + first.size() - 1) % first.size();
  const std::array<std::byte, 1> one{std::byte{1}};
  const std::array<std::byte, 1> two{std::byte{2}};
  std::array<std::byte, 1> from_first{};
  std::array<std::byte, 1> from_second{};
  auto sending_first = plait::mpi::start_send(first.comm(), one, right, 0);
  auto sending_second = plait::mpi::start_send(second.comm(), two, right, 0);
  plait::mpi::start_receive(second.comm(), from_second, left, 0).wait();
  plait::mpi::start_receive(first.comm(), from_first, left, 0).wait();
  EXPECT_EQ(from_first, one);
  EXPECT_EQ(from_second, two);
}

TEST(Contexts, live_on_parts_of_the_ranks) {
  const Communicator all = Communicator::borrowed(test_comm());
  const Communicator half = all.split(all.rank() % 2, all.rank());
  Context context(half.handle());
  EXPECT_EQ(context.rank(), all.rank() / 2);
  EXPECT_EQ(context.size(), half.size());
  EXPECT_EQ(plait::mpi::all_reduce(context.comm(), all.rank() % 2, Operation::sum()),
            context.size() * (all.rank() % 2));
  EXPECT_EQ(context.topology().node().size(), context.size());
}

TEST(Contexts, are_not_made_of_communicators_that_join_two_groups) {
  if (plait::test::ranks() < 2) return;
  const Communicator all = Communicator::borrowed(test_comm());
  const int own = all.rank() % 2;
  const Communicator part = all.split(own, all.rank());
  MPI_Comm joining = MPI_COMM_NULL;
  MPI_Intercomm_create(part.handle(), 0, all.handle(), 1 - own, 0, &joining);
  EXPECT_THROW(Context{joining}, plait::ArgumentError);
  MPI_Comm_free(&joining);
}

TEST(Contexts, are_not_made_of_no_communicator) { EXPECT_THROW(Context{MPI_COMM_NULL}, plait::ArgumentError); }

TEST(Contexts, live_on_a_single_rank) {
  Context context(MPI_COMM_SELF);
  EXPECT_EQ(context.rank(), 0);
  EXPECT_EQ(context.size(), 1);
  EXPECT_EQ(context.topology().class_of(0), PeerClass::self);
  EXPECT_EQ(plait::mpi::all_gather(context.comm(), 7), std::vector<int>{7});
}

TEST(Contexts, know_that_all_ranks_of_this_machine_share_a_node) {
  const Context context(test_comm());
  const auto& topology = context.topology();
  EXPECT_EQ(topology.nodes(), 1);
  EXPECT_EQ(topology.node().size(), context.size());
  EXPECT_EQ(topology.node().rank(), context.rank());
  for (int rank = 0; rank < context.size(); ++rank) {
    EXPECT_EQ(topology.node_of(rank), 0);
    EXPECT_EQ(topology.class_of(rank), rank == context.rank() ? PeerClass::self : PeerClass::node);
  }
}

// MPICH has 2,046 communicators.
TEST(Contexts, give_back_what_they_take) {
  const int rounds = plait::test::ranks() <= 2 ? 3000 : 300;  // a millisecond each, where ranks share cores
  for (int i = 0; i < rounds; ++i) {
    const Context context(test_comm());
    ASSERT_EQ(context.size(), plait::test::ranks());
  }
}

TEST(Tags, come_one_after_the_other_in_whatever_order_they_are_given_back) {
  Context context(test_comm());
  std::optional<plait::mpi::Tags> a(context.reserve_tags(10));
  std::optional<plait::mpi::Tags> b(context.reserve_tags(5));
  const int first = a->first();
  EXPECT_GT(first, 0) << "the lowest ones are plait's own";
  EXPECT_EQ(b->first(), first + 10);
  context.rank() % 2 == 0 ? a.reset() : b.reset();
  EXPECT_EQ(context.reserve_tags(3).first(), first + 15);
}

TEST(Tags, are_taken_from_the_lowest_gap_that_is_wide_enough_once_the_highest_was_reached) {
  Context context(test_comm());
  std::optional<plait::mpi::Tags> a(context.reserve_tags(10));
  std::optional<plait::mpi::Tags> b(context.reserve_tags(5));
  std::optional<plait::mpi::Tags> c(context.reserve_tags(10));
  const int first = a->first();
  const plait::mpi::Tags rest = context.reserve_tags(context.comm().highest_tag() - (first + 25) + 1);
  b.reset();
  EXPECT_EQ(context.reserve_tags(5).first(), first + 10);
  EXPECT_THROW((void)context.reserve_tags(6), plait::MpiError) << "too wide for the gap";
  a.reset();
  EXPECT_EQ(context.reserve_tags(15).first(), first) << "two gaps are one";
  plait::mpi::Tags moved(std::move(*c));
  c.reset();
  EXPECT_THROW((void)context.reserve_tags(16), plait::MpiError) << "what was moved is still taken";
}

TEST(Tags, that_are_used_up_are_an_error_and_come_back) {
  Context context(test_comm());
  std::list<plait::mpi::Tags> all;
  Index reserved = 0;
  const int highest = context.comm().highest_tag();
  EXPECT_GE(highest, 32767);
  const int bunch = highest / 10;
  try {
    for (;;) {
      all.push_back(context.reserve_tags(bunch));
      ASSERT_LE(Index{all.back().first()} + bunch - 1, highest);
      reserved += bunch;
    }
  } catch (const plait::MpiError& error) {
    EXPECT_THAT(error.what(), HasSubstr(std::to_string(bunch)));
  }
  EXPECT_GT(reserved, Index{highest} / 10 * 8);
  all.clear();
  EXPECT_THROW((void)context.reserve_tags(highest), plait::MpiError) << "as plait's own are not lent";
}

TEST(Tags, are_lent_up_to_the_highest) {
  Context context(test_comm());
  const int highest = context.comm().highest_tag();
  const plait::mpi::Tags first = context.reserve_tags(1);
  const plait::mpi::Tags lower = context.reserve_tags(highest - first.first() - 1);
  std::optional<plait::mpi::Tags> last(context.reserve_tags(1));
  EXPECT_EQ(last->first(), highest);
  EXPECT_THROW((void)context.reserve_tags(1), plait::MpiError);
  last.reset();
  EXPECT_EQ(context.reserve_tags(1).first(), highest);
}

TEST(PoisonedContext, refuses_work_and_names_the_first_error) {
  Context context(test_comm());
  EXPECT_NO_THROW(context.expect_usable());
  context.poison("first");
  context.poison("second");
  try {
    context.expect_usable();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const plait::MpiError& error) {
    EXPECT_THAT(error.what(), HasSubstr("first"));
    EXPECT_THAT(error.what(), ::testing::Not(HasSubstr("second")));
  }
}

struct Countdown final : plait::mpi::Activity {
  explicit Countdown(int steps) : left(steps) {}
  bool advance() noexcept override { return left > 0 && left-- > 0; }
  int left;
};

TEST(Contexts, move_all_their_activities_along) {
  Context context(test_comm());
  Countdown three(3);
  Countdown one(1);
  EXPECT_FALSE(context.activities().advance());
  context.activities().enlist(three);
  context.activities().enlist(one);
  EXPECT_TRUE(context.activities().advance());
  EXPECT_EQ(one.left, 0);
  EXPECT_TRUE(context.activities().advance());
  context.activities().dismiss(three);
  EXPECT_FALSE(context.activities().advance()) << "what is left of it has been dismissed";
  EXPECT_EQ(three.left, 1);
  context.activities().dismiss(one);
}

TEST(Contexts, are_kept_with_communicators_and_go_with_them) {
  using plait::mpi::context_of;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_dup(test_comm(), &comm);
  const std::shared_ptr<Context> context = context_of(comm);
  EXPECT_EQ(context_of(comm), context) << "found without communication";
  EXPECT_EQ(plait::mpi::all_reduce(context->comm(), 1, Operation::sum()), plait::test::ranks());
  MPI_Comm_dup(comm, &copy);
  std::weak_ptr<Context> of_copy = context_of(copy);
  EXPECT_NE(of_copy.lock(), context) << "a duplicate has its own";
  MPI_Comm_free(&copy);
  EXPECT_TRUE(of_copy.expired());
  MPI_Comm_free(&comm);
  EXPECT_EQ(plait::mpi::all_reduce(context->comm(), 1, Operation::sum()), plait::test::ranks())
      << "who holds it can still use it";
  static_cast<void>(context_of(test_comm()));
  static_cast<void>(context_of(MPI_COMM_WORLD));  // MPI_Finalize ends it
}

TEST(Environment, leaves_a_running_mpi_alone_and_names_it) {
  {
    int argc = 0;
    char** argv = nullptr;
    const plait::mpi::Environment environment(argc, argv, MPI_COMM_WORLD);
  }
  int finalized = 1;
  MPI_Finalized(&finalized);
  EXPECT_EQ(finalized, 0);
  EXPECT_THAT(plait::mpi::library_version(), ::testing::StartsWith(PLAIT_MPI_FAMILY));
}

}  // namespace
