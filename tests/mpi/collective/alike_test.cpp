// Ranks that give different arguments get one error, wherever their difference can be seen without another message.
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/collective/calls.hpp"
#include "plait/collective/node/reducer.hpp"
#include "plait/collective/reproducible_sum.hpp"
#include "plait/mpi/context.hpp"

#include "mpi/collective/operands.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

using collective::NodeReducer;
using schedule::Combine;
using simd::ReduceOperation;
using ::testing::HasSubstr;

struct Alike : ::testing::Test {
  mpi::Context context{test_comm()};
  bool last = rank() == ranks() - 1;

  // What all ranks throw.
  static void expect_refused(const std::string& text, const std::function<void()>& call) {
    if (ranks() == 1) return;
    try {
      call();
      ADD_FAILURE() << "nothing was thrown, expected " << text;
    } catch (const ArgumentError& error) {
      EXPECT_THAT(error.what(), HasSubstr(text));
      EXPECT_THAT(error.what(), HasSubstr("rank " + std::to_string(ranks() - 1)));
    }
  }
};

const Combine& sum() {
  static const Combine combine(ReduceOperation::sum, simd::Element::uint64);
  return combine;
}

struct AlikeOnNodes : Alike {
  NodeReducer reducer{context};
  Words data = Words(100'000, 1);

  void expect_still_works() {
    EXPECT_EQ(reducer.allreduce(std::uint64_t{1}, ReduceOperation::sum), static_cast<std::uint64_t>(ranks()));
    std::ranges::fill(data, 1);
    reducer.allreduce(data.data(), data.data(), 100'000, sum());
    EXPECT_EQ(data, Words(100'000, static_cast<std::uint64_t>(ranks())));
  }
};

// Some go in one hop, others in rounds, or all one or the other way.
TEST_F(AlikeOnNodes, names_numbers_of_elements_that_differ) {
  for (const Index few : {0, 1, 200, 3000, 70'000}) {
    const Index other = few == 0 ? 90'000 : few - 1;
    expect_refused("n: is " + std::to_string(other) + ", but " + std::to_string(few) + " on rank 0",
                   [&] { reducer.allreduce(data.data(), data.data(), last ? other : few, sum()); });
    expect_still_works();
  }
}

TEST_F(AlikeOnNodes, names_operations_and_types_that_differ) {
  const Combine max(ReduceOperation::max, simd::Element::uint64);
  const Combine floats(ReduceOperation::sum, simd::Element::float64);
  const Mix mix;
  const Combine own = Combine::elementwise<std::uint64_t>(mix);
  for (const Index n : {2, 50'000}) {
    expect_refused("operation: is max, but sum on rank 0",
                   [&] { reducer.allreduce(data.data(), data.data(), n, last ? max : sum()); });
    expect_still_works();
    expect_refused("element type: is float64, but uint64 on rank 0",
                   [&] { reducer.allreduce(data.data(), data.data(), n, last ? floats : sum()); });
    expect_refused("a caller's own", [&] { reducer.allreduce(data.data(), data.data(), n, last ? own : sum()); });
    expect_still_works();
  }
}

TEST_F(AlikeOnNodes, names_roots_and_reductions_that_differ) {
  constexpr Index n = 50'000;  // of few elements only those see it who get a result
  expect_refused("root: is 1, but 0 on rank 0",
                 [&] { reducer.reduce(data.data(), data.data(), n, last ? 1 : 0, sum()); });
  expect_refused("reduction: is scan, but allreduce on rank 0", [&] {
    last ? reducer.scan(data.data(), data.data(), n, sum()) : reducer.allreduce(data.data(), data.data(), n, sum());
  });
  expect_still_works();
}

TEST_F(AlikeOnNodes, tells_the_others_of_arguments_that_are_wrong_on_one_rank) {
  if (ranks() == 1) return;
  for (const Index n : {3, 50'000}) {
    try {
      reducer.allreduce(data.data(), data.data(), last ? -1 : n, sum());
      ADD_FAILURE() << "nothing was thrown";
    } catch (const ArgumentError& error) {
      EXPECT_THAT(error.what(), HasSubstr(last ? "n: -1" : "arguments of a reduction were refused"));
    }
    expect_still_works();
  }
}

TEST_F(Alike, reproducible_sums_of_arrays_on_a_node_have_one_type) {
  collective::ReproducibleSum sums(context);
  std::array<double, 8> data{};
  expect_refused("element type", [&] {
    sums.allreduce(data.data(), data.data(), 4, last ? simd::Element::complex64 : simd::Element::float64);
  });
}

TEST_F(Alike, long_calls_have_one_type_operation_root_and_length) {
  std::vector<double> data(20'000);
  const std::span<double> all(data);
  expect_refused("elements: is 19999, but 20000 on rank 0",
                 [&] { collective::allreduce(context, last ? all.first(19'999) : all, ReduceOperation::sum); });
  expect_refused("combined by: is max, but sum on rank 0",
                 [&] { collective::allreduce(context, all, last ? ReduceOperation::max : ReduceOperation::sum); });
  expect_refused("root: is 1, but 0 on rank 0",
                 [&] { collective::reduce(context, all, last ? 1 : 0, ReduceOperation::sum); });
  std::vector<std::int64_t> integers(20'000);
  expect_refused("element type: is i64, but f64 on rank 0", [&] {
    last ? collective::broadcast(context, std::span(integers), 0) : collective::broadcast(context, all, 0);
  });
  expect_refused("collective operation: is allreduce, but broadcast on rank 0", [&] {
    last ? collective::allreduce(context, all, ReduceOperation::sum) : collective::broadcast(context, all, 0);
  });
  std::vector<Index> counts(static_cast<std::size_t>(ranks()), 10'000);
  if (last) std::ranges::fill(counts, 10'001);
  std::vector<double> gathered(static_cast<std::size_t>(ranks()) * 10'001);
  expect_refused("block 0: count: is 10001, but 10000 on rank 0",
                 [&] { collective::all_gather(context, std::span<const double>(data), std::span(gathered), counts); });
  EXPECT_NO_THROW(collective::allreduce(context, all, ReduceOperation::sum));
}

}  // namespace
}  // namespace plait::test
