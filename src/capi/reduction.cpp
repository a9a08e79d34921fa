#include "capi/reduction.hpp"

#include "plait/simd/reduce/reduce.hpp"

#include "capi/arguments.hpp"

namespace plait::capi {

using schedule::Combine;

Reduction::Reduction(const plait_reduction* given)
    : combine_(combine_of(expect_input(given, "reduction", "a plait_reduction"))),
      operation_(given->operation),
      type_(own_ ? combine_.element_bytes() : Index{given->type}) {}

Combine Reduction::combine_of(const plait_reduction& given) {
  if (given.operation == PLAIT_OWN) {
    if (given.function == nullptr) {
      throw ArgumentError("reduction: its operation is PLAIT_OWN and its function NULL, expected one of the two");
    }
    expect_at_least("reduction: element_bytes", given.element_bytes, 0);
    const Index bytes = given.element_bytes > 0 ? given.element_bytes : simd::size_in_bytes(element(given.type));
    own_ = std::make_unique<Own>(Own{given.function, given.data});
    const auto call = [](const void* state, Index n, const void* a, const void* b, void* out) {
      const Own& own = *static_cast<const Own*>(state);
      expect_returned_zero(own.function(n, a, b, out, own.data), std::to_string(n) + " elements to be combined");
    };
    const Combine combine(call, own_.get(), bytes, true);
    return given.commutes != 0 ? combine.in_any_order() : combine;
  }
  if (given.function != nullptr) {
    throw ArgumentError("reduction: its operation is " + std::to_string(given.operation) +
                        " and its function not NULL, expected PLAIT_OWN with a function");
  }
  if (given.operation == PLAIT_EXACT_SUM) return Combine::reproducible_sum(element(given.type));
  static_assert(PLAIT_NO_OP - 1 == static_cast<int>(simd::ReduceOperation::no_op), "both count alike but for the own");
  if (given.operation < PLAIT_MAX || given.operation > PLAIT_NO_OP) {
    throw ArgumentError("reduction: its operation is " + std::to_string(given.operation) +
                        ", expected PLAIT_OWN to PLAIT_EXACT_SUM");
  }
  return {static_cast<simd::ReduceOperation>(given.operation - 1), element(given.type)};
}

void expect_returned_zero(int returned, const std::string& what) {
  if (returned == 0) return;
  throw ArgumentError("function: returned " + std::to_string(returned) + " for " + what + ", expected 0");
}

}  // namespace plait::capi
