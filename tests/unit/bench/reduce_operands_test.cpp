#include "bench/reduce/reduce_operands.hpp"

#include <set>

#include <gtest/gtest.h>

#include "bench/reduce/instruction_count.hpp"

namespace plait::bench {
namespace {

using simd::Element;
using simd::ReduceOperation;

const std::shared_ptr<const OperandMemory>& memory() {
  static const auto shared = std::make_shared<const OperandMemory>(1024);
  return shared;
}

TEST(ReduceOperands, what_the_kernels_leave_is_right_for_every_operation_and_element) {
  for (const ReduceOperation operation : simd::reduce_operations()) {
    for (const Element element : simd::elements()) {
      simd::ReduceKernel* const kernel = simd::reduce_kernel(operation, element);
      if (kernel == nullptr) continue;
      for (const Caches caches : {Caches::warm, Caches::cold}) {
        const ReduceOperands operands(memory(), operation, element, 1024, caches);
        operands.prepare();
        operands.run(kernel);
        EXPECT_EQ(operands.wrong_after(kernel), 0) << simd::name(operation) << " " << simd::name(element);
      }
    }
  }
}

TEST(ReduceOperands, a_reduction_that_does_nothing_is_found_wrong) {
  const auto nothing = [](Index /*n*/, const void* /*in*/, void* /*inout*/) {};
  for (const Element element : {Element::int8, Element::bfloat16, Element::float64, Element::complex64}) {
    for (const ReduceOperation operation : {ReduceOperation::sum, ReduceOperation::prod}) {
      const ReduceOperands operands(memory(), operation, element, 1024, Caches::warm);
      EXPECT_GT(operands.wrong_after(nothing), 0) << simd::name(operation) << " " << simd::name(element);
    }
  }
}

TEST(ReduceOperands, short_ones_are_reduced_many_times_in_a_run) {
  const ReduceOperands operands(memory(), ReduceOperation::sum, Element::int8, 64, Caches::cold);
  Index calls = 0;
  operands.run([&](Index n, const void* /*in*/, void* /*inout*/) { calls += n == 64 ? 1 : 0; });
  EXPECT_EQ(calls, operands.calls());
  EXPECT_GT(calls, 1);
}

TEST(ReduceOperands, short_ones_that_are_in_the_caches_do_not_wait_for_each_other) {
  const ReduceOperands operands(memory(), ReduceOperation::sum, Element::int8, 1024, Caches::warm);
  const void* last = nullptr;
  std::set<const void*> places;
  operands.run([&](Index /*n*/, const void* /*in*/, void* inout) {
    EXPECT_NE(inout, last);
    places.insert(last = inout);
  });
  EXPECT_GT(places.size(), 4);
  EXPECT_LT(places.size(), 16);
}

TEST(InstructionCount, grows_by_the_same_for_each_round_of_a_loop) {
  const auto count = [](int rounds) {
    return count_instructions([=] {
      volatile int left = rounds;
      while (left > 0) left = left - 1;
    });
  };
  const auto ten = count(10), twenty = count(20), thirty = count(30);
  if (!ten) return;  // where no process may trace its child
  EXPECT_GT(*twenty - *ten, 20);
  EXPECT_EQ(*thirty - *twenty, *twenty - *ten);
}

}  // namespace
}  // namespace plait::bench
