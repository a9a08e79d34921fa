#include "plait/collective/pipeline.hpp"

#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/mpi/reduction.hpp"

#include "mpi/collective/block_cases.hpp"
#include "mpi/mpi/pretended_nodes.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

using collective::Backend;
using collective::Group;
using collective::Pipeline;
using collective::PipelineOptions;
using collective::WithinNodes;
using schedule::Binding;
using schedule::Combine;
using schedule::Schedule;

constexpr Index word = sizeof(std::uint64_t);

struct Pipelines : ::testing::Test {
  static constexpr Index n = 5000;
  mpi::Context context{test_comm()};
  Group all = Group::all(context);
  Combine sum = mpi::reduction<std::uint64_t>(mpi::Operation::sum());
  std::vector<int> everyone = all.ranks();

  static void run(Schedule& schedule, Words& data) {
    const Binding binding = Binding::output(std::as_writable_bytes(std::span(data)));
    schedule.start({&binding, 1});
    schedule.wait();
  }

  // On a grid of `columns`, whose last row may be shorter: the ranks of this rank's row, and of its column.
  [[nodiscard]] Group row(int columns) const {
    std::vector<int> ranks;
    for (const int rank : everyone) {
      if (rank / columns == context.rank() / columns) ranks.push_back(rank);
    }
    return {context, std::move(ranks), columns};
  }
  [[nodiscard]] Group column(int columns) const {
    std::vector<int> ranks;
    for (const int rank : everyone) {
      if (rank % columns == context.rank() % columns) ranks.push_back(rank);
    }
    return {context, std::move(ranks), (context.size() + columns - 1) / columns};
  }
};

std::vector<PipelineOptions> ways() {
  return {{},
          {.strands = 3, .segment_bytes = 100},
          {.segment_bytes = 8},
          {.backend = Backend::mpi},
          {.backend = Backend::mpi, .strands = 4}};
}

TEST_F(Pipelines, reduce_broadcast_and_compute_on_all_ranks_by_each_way) {
  std::uint64_t seed = 5000;
  for (const PipelineOptions& options : ways()) {
    std::vector<int> seen(n, 0);
    Pipeline pipeline(context, n, word, options);
    pipeline.reduce(all, context.size() - 1, sum)
        .broadcast(all, context.size() - 1)
        .compute([&](std::span<std::byte> bytes, Index first) {
          auto* const words = reinterpret_cast<std::uint64_t*>(bytes.data());
          for (Index i = 0; i < static_cast<Index>(bytes.size()) / word; ++i) {
            ++seen[static_cast<std::size_t>(first + i)];
            words[i] = 3 * words[i] + static_cast<std::uint64_t>(first + i);
          }
        });
    Schedule schedule = pipeline.schedule("pipeline");
    for (int repetition = 0; repetition < 2; ++repetition) {
      Words data = operands(++seed, rank(), n);
      run(schedule, data);
      Words expected = combined(seed, everyone, 0, n, std::plus<>());
      for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = 3 * expected[i] + i;
      ASSERT_EQ(data, expected);
    }
    EXPECT_THAT(seen, ::testing::Each(2));
  }
}

TEST_F(Pipelines, need_no_more_than_one_operation_of_each_kind_under_way) {
  constexpr Index length = 200;
  const auto add_one = [](std::span<std::byte> bytes, Index) {
    for (Index i = 0; i < static_cast<Index>(bytes.size()) / word; ++i)
      ++reinterpret_cast<std::uint64_t*>(bytes.data())[i];
  };
  for (const Backend backend : {Backend::plait, Backend::mpi}) {
    Pipeline pipeline(context, length, word, {.backend = backend, .strands = 3, .segment_bytes = 160});
    pipeline.compute(add_one).reduce(all, 0, sum).compute(add_one).broadcast(all, ranks() - 1).allreduce(all, sum);
    Schedule schedule = pipeline.schedule("one by one", {.sends = 1, .receives = 1, .requests = 1});
    Words data = operands(9000, rank(), length);
    run(schedule, data);
    // All have what the last rank had, of which the first one's sum is another's.
    Words expected = operands(9000, ranks() - 1, length);
    for (std::uint64_t& value : expected) value = (value + 2) * static_cast<std::uint64_t>(ranks());
    ASSERT_EQ(data, expected);
  }
}

TEST_F(Pipelines, reduce_along_rows_and_broadcast_along_columns_of_a_ragged_grid) {
  const int columns = context.size() < 4 ? 1 : 3;
  const Group own_row = row(columns);
  const Group own_column = column(columns);
  std::uint64_t seed = 6000;
  for (const PipelineOptions& options : ways()) {
    Words data = operands(++seed, rank(), n);
    // To the first one of each row; then the first column's sums are broadcast down it.
    Pipeline pipeline(context, n, word, options);
    Schedule schedule = pipeline.reduce(own_row, 0, sum).broadcast(own_column, 0).schedule("grid");
    run(schedule, data);
    const int top = own_column.rank(0);
    std::vector<int> top_row;
    for (const int rank : everyone) {
      if (rank / columns == 0) top_row.push_back(rank);
    }
    ASSERT_EQ(data, top == 0 ? combined(seed, top_row, 0, n, std::plus<>()) : operands(seed, top, n));
  }
}

// A network so slow that as little as can be has to travel on it.
model::Machine slow_network() {
  model::Machine machine = model::default_machine();
  machine.network.streams = {{1, model::BandwidthCurve({{1000, 1e6}}), model::BandwidthCurve({{1000, 1e6}})}};
  return machine;
}

TEST(PipelinesOnNodes, go_through_shared_memory_inside_of_them_where_that_is_best) {
  if (ranks() < 4) return;
  const PretendedNodes nodes({ranks() / 2, ranks() - ranks() / 2});
  for (const WithinNodes within : {WithinNodes::shared_memory, WithinNodes::messages}) {
    mpi::Context context(test_comm());
    context.use_machine(slow_network());
    std::string choice;
    context.choices().tell([&](const std::string& line) { choice = line; });
    const Group all = Group::all(context);
    const Combine sum = mpi::reduction<std::uint64_t>(mpi::Operation::sum());
    constexpr Index length = 20'000;
    Pipeline pipeline(context, length, word, {.strands = 1, .segment_bytes = length * word, .within_nodes = within});
    Schedule schedule = pipeline.reduce(all, 1, sum).broadcast(all, 1).schedule("by nodes");
    ASSERT_THAT(choice, ::testing::HasSubstr(": hierarchical,"));
    for (const std::uint64_t seed : {8000U, 8001U}) {
      Words data = operands(seed, rank(), length);
      context.counters().clear();
      Pipelines::run(schedule, data);
      ASSERT_EQ(data, combined(seed, all.ranks(), 0, length, std::plus<>()));
    }
    Exchanged expected;
    const bool shares = within == WithinNodes::shared_memory;
    for (const Exchanged& level :
         allreduce_hierarchical_traffic(length, word, collective::Hierarchy::of_nodes(context), rank(), true, shares)) {
      expected += level;
    }
    EXPECT_EQ(exchanged(context, "by nodes"), expected);
  }
}

// As those write it who want none cut.
TEST_F(Pipelines, have_messages_as_long_as_the_vector_where_longer_ones_are_wanted) {
  std::uint64_t seed = 900;
  for (const Index length : {Index{0}, n}) {
    for (const Index longest : {Index{1} << 40, std::numeric_limits<Index>::max()}) {
      Pipeline pipeline(context, length, word, {.segment_bytes = longest});
      pipeline.allreduce(all, sum).broadcast(all, 0);
      Schedule schedule = pipeline.schedule("long messages");
      Words data = operands(++seed, rank(), length);
      run(schedule, data);
      EXPECT_EQ(data, combined(seed, everyone, 0, length, std::plus<>()));
    }
  }
}

TEST_F(Pipelines, of_one_context_may_be_active_at_the_same_time) {
  Pipeline first(context, n, word);
  Pipeline other(context, n, word, {.strands = 2, .segment_bytes = 64});
  Schedule one = first.allreduce(all, sum).schedule("one");
  Schedule two = other.reduce(all, 0, sum).broadcast(all, 0).schedule("two");
  Words a = operands(7001, rank(), n);
  Words b = operands(7002, rank(), n);
  const Binding to_a = Binding::output(std::as_writable_bytes(std::span(a)));
  const Binding to_b = Binding::output(std::as_writable_bytes(std::span(b)));
  one.start({&to_a, 1});
  two.start({&to_b, 1});
  two.wait();
  one.wait();
  EXPECT_EQ(a, combined(7001, everyone, 0, n, std::plus<>()));
  EXPECT_EQ(b, combined(7002, everyone, 0, n, std::plus<>()));
}

TEST_F(Pipelines, tell_those_who_wait_for_a_rank_whose_computation_fails) {
  Pipeline pipeline(context, n, word);
  pipeline
      .compute([&](std::span<std::byte>, Index) {
        if (context.rank() == context.size() - 1) throw std::runtime_error("can not compute");
      })
      .allreduce(all, sum);
  Schedule schedule = pipeline.schedule("failing");
  Words data = operands(1, rank(), n);
  if (rank() == ranks() - 1) {
    EXPECT_THROW(run(schedule, data), std::runtime_error);
  } else {
    EXPECT_THROW(run(schedule, data), PeerFailed);
  }
}

TEST_F(Pipelines, tell_all_ranks_of_a_failure_where_mpi_carries_them_out) {
  bool fails = true;
  Pipeline pipeline(context, n, word, {.backend = Backend::mpi, .strands = 3});
  pipeline
      .compute([&](std::span<std::byte>, Index first) {
        if (fails && first > 0 && rank() == ranks() - 1) throw std::runtime_error("can not compute");
      })
      .allreduce(all, sum);
  Schedule schedule = pipeline.schedule("failing");
  for (const bool now : {true, false, true}) {
    fails = now;
    Words data = operands(1, rank(), n);
    if (!fails) {
      run(schedule, data);
      EXPECT_EQ(data, combined(1, everyone, 0, n, std::plus<>()));
    } else if (rank() == ranks() - 1) {
      EXPECT_THROW(run(schedule, data), std::runtime_error);
    } else {
      EXPECT_THROW(run(schedule, data), PeerFailed);
    }
  }
}

TEST_F(Pipelines, are_refused_alike_where_they_differ_on_one_rank) {
  if (ranks() == 1) return;
  const bool last = rank() == ranks() - 1;
  const auto refused = [&](const std::string& name, Pipeline pipeline) {
    try {
      static_cast<void>(pipeline.allreduce(all, sum).schedule("different"));
      ADD_FAILURE() << "nothing was thrown about " << name;
    } catch (const ArgumentError& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr(name));
      EXPECT_THAT(error.what(), ::testing::StartsWith("rank " + std::to_string(ranks() - 1)));
    }
  };
  refused("elements: is 5001, but 5000 on rank 0; expected the same on all ranks", {context, last ? n + 1 : n, word});
  refused("backend", {context, n, word, {.backend = last ? Backend::mpi : Backend::plait}});
  refused("strands", {context, n, word, {.strands = last ? 1 : 2}});
  refused("segment_bytes", {context, n, word, {.segment_bytes = last ? 8 : 16}});
  Pipeline other(context, n, word);
  if (last) other.broadcast(all, 0);
  refused("steps: is 2, but 1 on rank 0", other);
  Pipeline rooted(context, n, word);
  rooted.broadcast(all, last ? 1 : 0);
  refused("step 0: root: is 1, but 0 on rank 0", rooted);
  Pipeline combining(context, n, word);
  combining.allreduce(all,
                      Combine(last ? simd::ReduceOperation::max : simd::ReduceOperation::sum, simd::Element::uint64));
  refused("step 0: combined by: is max, but sum on rank 0", combining);
}

TEST_F(Pipelines, refuse_what_can_not_be) {
  EXPECT_THROW(Pipeline(context, Index{1} << 61, word), ArgumentError);
  EXPECT_THROW(Pipeline(context, -1, word), ArgumentError);
  EXPECT_THROW(Pipeline(context, n, 0), ArgumentError);
  EXPECT_THROW(Pipeline(context, n, word, {.strands = 0}), ArgumentError);
  EXPECT_THROW(Pipeline(context, n, word, {.strands = 2'000'000'000}), ArgumentError);
  EXPECT_THROW(Pipeline(context, n, word, {.segment_bytes = 0}), ArgumentError);
  EXPECT_THROW(Pipeline(context, n, 4).allreduce(all, sum), ArgumentError);
  EXPECT_THROW(Pipeline(context, n, word).broadcast(all, ranks()), ArgumentError);
  const Compose compose;
  EXPECT_THROW(Pipeline(context, n, word, {.backend = Backend::mpi})
                   .allreduce(all, Combine::elementwise<std::uint64_t>(compose)),
               ArgumentError);
  EXPECT_THROW(Group(context, {0, 0}), ArgumentError);
  EXPECT_THROW(Group(context, {}), ArgumentError);
  EXPECT_THROW(Group(context, {ranks()}), ArgumentError);
}

}  // namespace
}  // namespace plait::test
