// Random graphs against a serial interpreter, which knows what every rank must have and throw in the end.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <list>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "plait/mpi/collectives.hpp"
#include "plait/mpi/context.hpp"

#include "mpi/schedule/instance.hpp"
#include "mpi/schedule/program.hpp"
#include "support/random.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

using mpi::Context;
using schedule::Windows;

// PLAIT_TEST_SEED chooses other programs than the usual ones.
std::uint64_t base_seed(const Context& context) {
  const char* text = std::getenv("PLAIT_TEST_SEED");
  std::uint64_t seed = text == nullptr ? 1 : std::strtoull(text, nullptr, 10);
  mpi::broadcast(context.comm(), std::span<std::uint64_t>(&seed, 1), 0);
  return seed;
}

std::vector<bool> random_throws(Random& random, const Program& program) {
  std::vector<bool> throws(program.steps.size(), false);
  for (int failures = 1 + random.below(3); failures > 0; --failures) throws[random.below(throws.size())] = true;
  // Most steps are no computations, and what has failed already does not throw: some more are told to.
  for (std::size_t s = random.below(throws.size()); s < throws.size(); s += 1 + random.below(throws.size())) {
    throws[s] = true;
  }
  return throws;
}

// Windows need not be the same on all ranks.
Windows random_windows(Random& random, int rank) {
  Windows windows;
  for (int r = 0; r <= rank; ++r) {
    const int widths[] = {1, 1, 2, 3, 16, 10000};
    windows = {random.any_of(widths), random.any_of(widths), random.any_of(widths)};
  }
  return windows;
}

void run_and_fail_and_run(Context& context, const Program& program, Windows windows, Random& random) {
  Instance instance(context, program, windows, "random program");
  instance.start(random.bits());
  instance.wait_and_check();
  for (int round = 0; round < 3; ++round) {
    instance.start(random.bits(), random_throws(random, program));
    instance.wait_and_check();
  }
  instance.start(random.bits());
  instance.wait_and_check();
}

TEST(RandomGraphs, give_what_the_interpreter_gives_through_windows_of_one) {
  Context context(test_comm());
  for (int i = 0; i < 15; ++i) {
    const std::uint64_t seed = base_seed(context) + static_cast<std::uint64_t>(i);
    SCOPED_TRACE("PLAIT_TEST_SEED=" + std::to_string(seed));
    Random random{seed};
    const Shape shape{.steps = 10 + 20 * i, .strands = 1 + i % 4};
    run_and_fail_and_run(context, random_program(seed, context.size(), shape), {1, 1, 1}, random);
  }
}

TEST(RandomGraphs, give_what_the_interpreter_gives_through_random_windows) {
  Context context(test_comm());
  for (int i = 0; i < 15; ++i) {
    const std::uint64_t seed = base_seed(context) + 1000 + static_cast<std::uint64_t>(i);
    SCOPED_TRACE("PLAIT_TEST_SEED=" + std::to_string(seed));
    Random random{seed};
    const Shape shape{.steps = 10 + 20 * i, .strands = 1 + i % 4};
    const Program program = random_program(seed, context.size(), shape);
    const Windows windows = random_windows(random, context.rank());
    Random data{seed};
    run_and_fail_and_run(context, program, windows, data);
  }
}

TEST(RandomGraphs, of_thousands_of_operations_give_what_the_interpreter_gives) {
  Context context(test_comm());
  for (int i = 0; i < 2; ++i) {
    const std::uint64_t seed = base_seed(context) + 2000 + static_cast<std::uint64_t>(i);
    SCOPED_TRACE("PLAIT_TEST_SEED=" + std::to_string(seed));
    Random random{seed};
    const Shape shape{.steps = context.size() == 1 ? 1500 : 4000, .strands = 8};
    const Windows windows = i == 0 ? Windows{1, 1, 1} : Windows{};
    run_and_fail_and_run(context, random_program(seed, context.size(), shape), windows, random);
  }
}

TEST(RandomGraphs, interleaved_on_one_context_may_be_waited_for_in_any_order) {
  Context context(test_comm());
  const std::uint64_t seed = base_seed(context) + 3000;
  SCOPED_TRACE("PLAIT_TEST_SEED=" + std::to_string(seed));
  constexpr int count = 4;
  std::vector<Program> programs;
  std::list<Instance> instances;
  Random random{seed};
  Random own{seed + 100 + static_cast<std::uint64_t>(context.rank())};
  for (int i = 0; i < count; ++i) {
    const std::uint64_t program_seed = seed + static_cast<std::uint64_t>(i);
    programs.push_back(random_program(program_seed, context.size(), {.steps = 150 + 50 * i, .strands = 1 + i}));
  }
  for (int i = 0; i < count; ++i) {
    instances.emplace_back(context, programs[static_cast<std::size_t>(i)], random_windows(own, 0),
                           "program " + std::to_string(i));
  }
  for (int round = 0; round < 6; ++round) {
    std::vector<Instance*> order;
    int i = 0;
    for (Instance& instance : instances) {
      const Program& program = programs[static_cast<std::size_t>(i++)];
      if (round % 2 == 0) {
        instance.start(random.bits());
      } else {
        instance.start(random.bits(), random_throws(random, program));
      }
      for (int polls = own.below(4); polls > 0; --polls) instance.progress();
      order.push_back(&instance);
    }
    if (own.one_in(3)) std::this_thread::sleep_for(std::chrono::milliseconds{own.below(3)});
    while (!order.empty()) {
      const std::size_t next = own.below(order.size());
      order[next]->wait_and_check();
      order.erase(order.begin() + static_cast<std::ptrdiff_t>(next));
    }
  }
}

}  // namespace
}  // namespace plait::test
