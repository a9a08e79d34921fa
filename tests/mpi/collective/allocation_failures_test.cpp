// A rank that has no memory left for what an entry point of collectives needs tells the others.
#include "support/allocation_failures.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "plait/collective/calls.hpp"
#include "plait/collective/node/reducer.hpp"
#include "plait/collective/pipeline.hpp"
#include "plait/collective/reproducible_sum.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/context.hpp"

#include "mpi/collective/operands.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

using collective::Backend;
using collective::Group;
using collective::Pipeline;
using simd::ReduceOperation;

std::uint64_t one_to(int last) { return static_cast<std::uint64_t>(last) * static_cast<std::uint64_t>(last + 1) / 2; }

TEST(CollectiveAllocationFailures, end_the_making_of_a_reducer_on_all_ranks) {
  mpi::Context context(test_comm());
  expect_one_end_on_all_ranks([&] {
    collective::NodeReducer reducer(context);
    EXPECT_EQ(reducer.allreduce(std::uint64_t{1}, ReduceOperation::sum), static_cast<std::uint64_t>(ranks()));
  });
  expect_one_end_on_all_ranks([&] { static_cast<void>(collective::ReproducibleSum(context)); });
}

TEST(CollectiveAllocationFailures, do_not_keep_sums_that_are_reproducible_from_their_end) {
  mpi::Context context(test_comm());
  const std::vector<double> addends(5000, 0.5);
  expect_one_end_on_all_ranks(
      [&] { EXPECT_EQ(collective::reproducible_sum<double>(context, addends), 2500.0 * ranks()); });
}

void expect_pipelines(mpi::Context& context, const collective::PipelineOptions& options) {
  const schedule::Combine sum(mpi::reduction<std::uint64_t>(mpi::Operation::sum()));
  Words data(3000);
  const auto run = [&] {
    std::ranges::fill(data, static_cast<std::uint64_t>(rank() + 1));
    const Pipeline pipeline = mpi::agreed(context, [&] {
      Pipeline made(context, 3000, sizeof(std::uint64_t), options);
      made.allreduce(Group::all(context), sum)
          .compute([](std::span<std::byte> bytes, Index) {
            auto* const words = reinterpret_cast<std::uint64_t*>(bytes.data());
            for (std::size_t i = 0; i < bytes.size() / sizeof(std::uint64_t); ++i) words[i] += 1;
          })
          .broadcast(Group::all(context), ranks() - 1);
      return made;
    });
    schedule::Schedule schedule = pipeline.schedule("failing");
    mpi::agreed(context, [&] { schedule.prepare(); });
    const std::array bindings{schedule::Binding::output(std::as_writable_bytes(std::span(data)))};
    schedule.start(bindings);
    schedule.wait();
    EXPECT_EQ(data[2999], one_to(ranks()) + 1);
  };
  expect_one_end_on_all_ranks(run);
}

TEST(CollectiveAllocationFailures, end_the_planning_of_pipelines_on_all_ranks) {
  mpi::Context context(test_comm());
  expect_pipelines(context, {});
  expect_pipelines(context, {.strands = 3});
  expect_pipelines(context, {.backend = Backend::mpi, .strands = 2});
}

// Short ones are planned in a reserve.
TEST(CollectiveAllocationFailures, do_not_keep_short_calls_from_their_end) {
  mpi::Context context(test_comm());
  expect_one_end_on_all_ranks([&] {
    std::array<std::uint64_t, 3> words{};
    const std::span<std::uint64_t> data(words);
    words.fill(static_cast<std::uint64_t>(rank() + 1));
    collective::broadcast(context, data, ranks() - 1);
    EXPECT_EQ(words[2], static_cast<std::uint64_t>(ranks()));
    words.fill(static_cast<std::uint64_t>(rank() + 1));
    collective::allreduce(context, data, ReduceOperation::sum);
    EXPECT_EQ(words[0], one_to(ranks()));
    collective::reduce(context, data, 0, ReduceOperation::sum);
  });
}

TEST(CollectiveAllocationFailures, end_long_calls_on_all_ranks) {
  mpi::Context context(test_comm());
  Words data(20'000);
  expect_one_end_on_all_ranks([&] {
    std::ranges::fill(data, static_cast<std::uint64_t>(rank() + 1));
    collective::allreduce(context, std::span(data), ReduceOperation::sum);
    EXPECT_EQ(data[19'999], one_to(ranks()));
    collective::broadcast(context, std::span(data), 0);
  });
  const Index tag = context.reserve_tags(1).first();
  EXPECT_EQ(tag, mpi::all_reduce(context.comm(), tag, mpi::Operation::maximum()));
}

}  // namespace
}  // namespace plait::test
