// Builders beside each other in one graph, schedules beside each other on one context, and computations that throw.
#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/collective/algorithm/rooted.hpp"

#include "mpi/collective/rooted.hpp"
#include "support/watchdog.hpp"

namespace plait::test {
namespace {

using collective::Graph;
using collective::Group;
using collective::Place;
using collective::SlotId;
using collective::Stream;
using collective::TreeShape;
using schedule::Binding;
using schedule::Combine;
using schedule::Schedule;

constexpr Index n = 300;
constexpr Index bytes = n * 8;

std::vector<int> all_ranks() {
  std::vector<int> all(static_cast<std::size_t>(ranks()));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// A vector of n words in so many strands, the first of which is `first`.
Stream stream_from(int first, int strands) {
  std::vector<collective::Segment> segments = Stream::cut(n, 8, strands, 16).segments();
  for (collective::Segment& segment : segments) segment.strand += first;
  return {8, std::move(segments)};
}

Binding input(const Words& words) { return Binding::input(std::as_bytes(std::span(words))); }
Binding output(Words& words) { return Binding::output(std::as_writable_bytes(std::span(words))); }

struct BuilderRuns : ::testing::Test {
  mpi::Context context{test_comm()};
  Group everybody = Group::all(context);
  Compose compose;
  Combine in_order = Combine::elementwise<std::uint64_t>(compose);
  Combine sum{simd::ReduceOperation::sum, simd::Element::uint64};
};

TEST_F(BuilderRuns, interleave_in_one_graph_on_strands_of_their_own) {
  std::vector<int> backwards = all_ranks();
  std::reverse(backwards.begin(), backwards.end());
  if (backwards.size() > 1) backwards.pop_back();  // without rank 0
  const Group others(context, backwards, ranks());
  for (const schedule::Windows windows : {schedule::Windows{}, schedule::Windows{1, 1, 1}}) {
    Graph graph(5);
    const Place first{graph.output(bytes)};
    const Place second{graph.output(bytes)};
    const int root = ranks() / 2;
    const Stream one = stream_from(0, 2);
    const Stream two = stream_from(2, 3);
    const Stream reduced_one = collective::reduce_binomial(graph, everybody, root, one, {first, first, in_order});
    const Stream reduced_two = collective::reduce_chain(graph, others, 0, two, {second, second, in_order});
    static_cast<void>(collective::broadcast_chain(graph, everybody, root, reduced_one, first));
    static_cast<void>(collective::broadcast_binomial(graph, others, 0, reduced_two, second));
    Schedule schedule(context, std::move(graph), "interleaved", windows);
    const Described described([&] { return schedule.describe(); });
    Words a = operands(1, rank(), n);
    Words b = operands(2, rank(), n);
    schedule.start(std::vector{output(a), output(b)});
    schedule.wait();
    EXPECT_EQ(a, combined(1, all_ranks(), 0, n, compose));
    EXPECT_EQ(b, others.contains_me() ? combined(2, backwards, 0, n, compose) : operands(2, rank(), n));
  }
}

TEST_F(BuilderRuns, are_under_way_together_on_one_context) {
  const auto make = [&](int root, const std::string& label) {
    Graph graph(2);
    const Place in{graph.input(bytes)};
    const Place out{graph.output(bytes)};
    const Stream reduced = collective::reduce_binomial(graph, everybody, root, stream_from(0, 2), {in, out, sum});
    static_cast<void>(collective::broadcast_binomial(graph, everybody, root, reduced, out));
    return Schedule(context, std::move(graph), label, {2, 2, 1});
  };
  Schedule first = make(0, "first");
  Schedule second = make(ranks() - 1, "second");
  for (std::uint64_t run = 0; run < 3; ++run) {
    const Words a = operands(10 + run, rank(), n);
    const Words b = operands(20 + run, rank(), n);
    Words sum_a(n);
    Words sum_b(n);
    first.start(std::vector{input(a), output(sum_a)});
    second.start(std::vector{input(b), output(sum_b)});
    Schedule& sooner = rank() % 2 == 0 ? first : second;
    Schedule& later = rank() % 2 == 0 ? second : first;
    sooner.wait();
    later.wait();
    EXPECT_EQ(sum_a, combined(10 + run, all_ranks(), 0, n, std::plus<>()));
    EXPECT_EQ(sum_b, combined(20 + run, all_ranks(), 0, n, std::plus<>()));
  }
}

struct Failing {
  bool fails = false;
  mutable Index calls = 0;
  std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const {
    if (fails && ++calls == n / 2) throw std::domain_error("no sum of these");
    return a + b;
  }
};

enum class Outcome : int { success, own_exception, peer_failed };

struct FailingReductions : BuilderRuns {
  Failing failing;

  Outcome outcome_of(Schedule& schedule) {
    try {
      schedule.wait();
      return Outcome::success;
    } catch (const PeerFailed&) {
      return Outcome::peer_failed;
    } catch (const std::domain_error&) {
      return Outcome::own_exception;
    }
  }

  // Runs what `build` makes with no rank failing, then with one rank after the other, or some of many.
  void expect_outcomes(const std::function<void(Graph&, const Stream&, const collective::Reducing&)>& build,
                       const std::function<Outcome(int failing, int rank)>& expected) {
    Graph graph(3);
    const Place in{graph.input(bytes)};
    const Place out{graph.output(bytes)};
    const Combine combine = Combine::elementwise<std::uint64_t>(failing).in_any_order();
    build(graph, stream_from(0, 3), {in, out, combine});
    Schedule schedule(context, std::move(graph), "failing", {2, 2, 1});
    const Described described([&] { return schedule.describe(); });
    const Words words = operands(3, rank(), n);
    Words result(n);
    for (int at_fault = -1; at_fault < ranks(); at_fault += ranks() <= 9 ? 1 : 5) {
      failing.fails = rank() == at_fault;
      failing.calls = 0;
      schedule.start(std::vector{input(words), output(result)});
      EXPECT_EQ(outcome_of(schedule), at_fault < 0 ? Outcome::success : expected(at_fault, rank())) << at_fault;
    }
  }
};

TEST_F(FailingReductions, tell_those_on_the_way_to_the_root) {
  const int root = ranks() - 1;
  expect_outcomes(
      [&](Graph& graph, const Stream& stream, const collective::Reducing& how) {
        static_cast<void>(collective::reduce_binomial(graph, everybody, root, stream, how));
      },
      [&](int at_fault, int me) {
        const auto own = [&](int index) { return collective::tree(TreeShape::binomial, ranks(), root, index); };
        if (own(at_fault).children.empty()) return Outcome::success;
        if (me == at_fault) return Outcome::own_exception;
        for (int index = at_fault; index >= 0; index = own(index).parent) {
          if (index == me) return Outcome::peer_failed;
        }
        return Outcome::success;
      });
}

TEST_F(FailingReductions, tell_all_who_wait_for_the_broadcast_that_follows) {
  expect_outcomes(
      [&](Graph& graph, const Stream& stream, const collective::Reducing& how) {
        const Stream reduced = collective::reduce_binomial(graph, everybody, 0, stream, how);
        static_cast<void>(collective::broadcast_binomial(graph, everybody, 0, reduced, how.out));
      },
      [&](int at_fault, int me) {
        if (collective::tree(TreeShape::binomial, ranks(), 0, at_fault).children.empty()) return Outcome::success;
        return me == at_fault ? Outcome::own_exception : Outcome::peer_failed;
      });
  expect_outcomes(
      [&](Graph& graph, const Stream& stream, const collective::Reducing& how) {
        const Stream reduced = collective::reduce_chain(graph, everybody, 0, stream, how);
        static_cast<void>(collective::broadcast_chain(graph, everybody, 0, reduced, how.out));
      },
      [&](int at_fault, int me) {
        if (at_fault == ranks() - 1) return Outcome::success;  // the end of the chain, which combines nothing
        return me == at_fault ? Outcome::own_exception : Outcome::peer_failed;
      });
  expect_outcomes(
      [&](Graph& graph, const Stream& stream, const collective::Reducing& how) {
        const TreeShape shape = TreeShape::binomial;
        const Stream reduced = collective::reduce_halving_gather(graph, everybody, 0, shape, stream, how);
        static_cast<void>(collective::broadcast_scatter_all_gather(graph, everybody, 0, shape,
                                                                   collective::AllGatherWay::ring, reduced, how.out));
      },
      [&](int at_fault, int me) {
        if (ranks() == 1) return Outcome::success;
        return me == at_fault ? Outcome::own_exception : Outcome::peer_failed;
      });
}

}  // namespace
}  // namespace plait::test
