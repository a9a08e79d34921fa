#include "plait/mpi/agreed.hpp"

#include <array>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/contract.hpp"
#include "plait/base/error.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/context.hpp"

#include "support/message_of.hpp"
#include "support/ranks.hpp"

namespace {

using plait::ErrorKind;
using plait::Index;
using plait::mpi::agreed;
using plait::mpi::Context;
using plait::test::test_comm;

struct Agreed : ::testing::Test {
  Context context{test_comm()};
  int rank = context.rank();
  int last = context.size() - 1;

  [[nodiscard]] std::string from(int failing, const std::string& text) const {
    return context.size() == 1 ? text : "rank " + std::to_string(failing) + ": " + text;
  }

  // `thrown` is thrown on one rank; all ranks must see this class and text.
  template <class Expected, class Thrown>
  Expected expect(int failing, const Thrown& thrown, const std::string& text) {
    try {
      agreed(context, [&] {
        if (rank == failing) throw thrown;
      });
    } catch (const Expected& error) {
      EXPECT_EQ(error.what(), from(failing, text));
      return error;
    } catch (const std::exception& error) {
      ADD_FAILURE() << "another class: " << error.what();
      throw;
    }
    ADD_FAILURE() << "nothing was thrown";
    throw std::logic_error("nothing was thrown");
  }
};

TEST_F(Agreed, returns_the_result_if_all_ranks_have_one) {
  EXPECT_EQ(agreed(context, [&] { return 10 * rank; }), 10 * rank);
  EXPECT_EQ(*agreed(context, [&] { return std::make_unique<int>(rank); }), rank);
  int calls = 0;
  agreed(context, [&] { ++calls; });
  EXPECT_EQ(calls, 1);
}

TEST_F(Agreed, throws_the_same_class_and_text_on_all_ranks) {
  for (const int failing : {0, last}) {
    EXPECT_EQ(expect<plait::ArgumentError>(failing, plait::ArgumentError("a"), "a").kind(), ErrorKind::argument);
    EXPECT_EQ(expect<plait::ShapeMismatch>(failing, plait::ShapeMismatch("b"), "b").kind(), ErrorKind::shape);
    EXPECT_EQ(expect<plait::LayoutError>(failing, plait::LayoutError("c"), "c").kind(), ErrorKind::layout);
    EXPECT_EQ(expect<plait::FileError>(failing, plait::FileError("d"), "d").kind(), ErrorKind::file);
    EXPECT_EQ(expect<plait::MpiError>(failing, plait::MpiError("e"), "e").kind(), ErrorKind::mpi);
    EXPECT_EQ(expect<plait::PeerFailed>(failing, plait::PeerFailed(17, "f"), "f").rank(), 17);
    EXPECT_EQ(expect<plait::OutOfMemory>(failing, plait::OutOfMemory("g"), "g").kind(), ErrorKind::out_of_memory);
  }
}

TEST_F(Agreed, knows_lack_of_memory_other_exceptions_and_what_is_no_exception) {
  for (const int failing : {0, last}) {
    expect<plait::OutOfMemory>(failing, std::bad_alloc(), "out of memory");
    EXPECT_EQ(expect<plait::Error>(failing, std::runtime_error("h"), "h").kind(), ErrorKind::other);
    expect<plait::Error>(failing, plait::ContractViolation("i"), "i");
    expect<plait::Error>(failing, 42, "an exception of unknown type");
  }
}

TEST_F(Agreed, is_about_the_lowest_failing_rank) {
  for (int lowest = 0; lowest <= last; ++lowest) {
    try {
      agreed(context, [&]() -> int {
        if (rank >= lowest) throw plait::FileError("on rank " + std::to_string(rank));
        return 1;
      });
      ADD_FAILURE() << "nothing was thrown";
    } catch (const plait::FileError& error) {
      EXPECT_EQ(error.what(), from(lowest, "on rank " + std::to_string(lowest)));
    }
  }
}

TEST_F(Agreed, names_no_rank_where_all_fail_alike) {
  EXPECT_THAT(plait::test::message_of<plait::ArgumentError>(
                  [&] { agreed(context, [] { throw plait::ArgumentError("n: is 3"); }); }),
              "n: is 3");
}

TEST_F(Agreed, cuts_texts_that_are_too_long) {
  const std::string text(10000, 'x');
  try {
    agreed(context, [&] {
      if (rank == last) throw plait::ArgumentError(text);
    });
    ADD_FAILURE() << "nothing was thrown";
  } catch (const plait::ArgumentError& error) {
    const std::string told = error.what();
    EXPECT_EQ(told.substr(0, from(last, "xxx").size()), from(last, "xxx"));
    EXPECT_LT(told.size(), 5000U);
  }
}

TEST_F(Agreed, leaves_the_context_as_it_was) {
  for (int round = 0; round < 20; ++round) {
    expect<plait::ArgumentError>(round % context.size(), plait::ArgumentError("again"), "again");
    EXPECT_EQ(agreed(context, [&] { return round; }), round);
  }
  EXPECT_NO_THROW(context.expect_usable());
}

TEST_F(Agreed, lets_ranks_reserve_the_same_tags_after_a_failure_before_some_could) {
  const auto tags = [&] {
    if (rank == last) throw std::bad_alloc();
    return context.reserve_tags(3);
  };
  EXPECT_THROW(static_cast<void>(agreed(context, tags)), plait::OutOfMemory);
  const auto next = context.reserve_tags(1);
  std::array<Index, 2> extremes{next.first(), -next.first()};
  plait::mpi::all_reduce(context.comm(), std::span<Index>(extremes), plait::mpi::Operation::maximum());
  EXPECT_EQ(extremes[0], -extremes[1]);
}

TEST_F(Agreed, finds_minima_on_the_way_whether_all_is_well_or_not) {
  for (const bool fails : {false, true}) {
    std::array<Index, 3> minima{rank, -rank, 5};
    const auto failure = fails && rank == 0 ? std::make_exception_ptr(std::runtime_error("fails")) : nullptr;
    if (fails) {
      EXPECT_THROW(plait::mpi::agree(context, failure, minima), plait::Error);
    } else {
      EXPECT_NO_THROW(plait::mpi::agree(context, failure, minima));
    }
    EXPECT_EQ(minima, (std::array<Index, 3>{0, -last, 5}));
  }
}

}  // namespace
