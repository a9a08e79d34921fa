#include "plait/collective/reproducible_sum.hpp"

#include <cstring>
#include <exception>
#include <optional>
#include <span>
#include <string>

#include "plait/mpi/agreed.hpp"

#include "capi/arguments.hpp"
#include "capi/communicator.hpp"
#include "capi/convert.hpp"
#include "capi/error.hpp"
#include "capi/handle.hpp"
#include "capi/plait.h"

using namespace plait::capi;
using plait::Index;

struct plait_summation : OnContext<plait_summation> {
  static constexpr const char* name = "a summation";
  std::optional<plait::collective::ReproducibleSum> sum;
};

namespace {

Index summable_bytes(plait_type type) {
  Index bytes = 0;
  with_field(type, [&]<class T>() { bytes = sizeof(T); });
  return bytes;
}

/// Agrees on a sum of arrays; all ranks have the result where there is no root.
plait::collective::ReproducibleSum& checked(plait_summation* summation, const void* in, void* out, Index count,
                                            plait_type type, std::optional<int> root) {
  plait_summation& its = expect_handle(summation, "summation");
  expect_mpi();
  std::exception_ptr failure;
  try {
    its.context->expect_usable();
    const Index bytes = summable_bytes(type);
    if (root) expect_below("root", *root, its.context->size());
    static_cast<void>(expect_elements(in, count, bytes, "in"));
    if (!root || *root == its.context->rank()) static_cast<void>(expect_elements(out, count, bytes, "out"));
  } catch (...) {
    failure = std::current_exception();
  }
  plait::mpi::expect_alike(*its.context, {{"type", type}, {"count", count}, {"root", root.value_or(-1)}}, failure);
  return *its.sum;
}

}  // namespace

int plait_reproducible_sum(plait_context* context, const void* addends, plait_index count, plait_type type,
                           void* result) {
  return guarded([&] {
    plait::mpi::Context& its = *expect_handle(context, "context").context;
    expect_mpi();
    std::exception_ptr failure;
    try {
      its.expect_usable();
      if (result == nullptr) throw plait::ArgumentError("result: is NULL, expected the address of a result");
      static_cast<void>(expect_elements(addends, count, summable_bytes(type), "addends"));
    } catch (...) {
      failure = std::current_exception();
    }
    plait::mpi::expect_alike(its, {{"type", type}}, failure);
    with_field(type, [&]<class T>() {
      const std::span own(static_cast<const T*>(addends), static_cast<std::size_t>(count));
      const T sum = plait::collective::reproducible_sum<T>(its, own);
      std::memcpy(result, &sum, sizeof(T));
    });
  });
}

int plait_summation_create(plait_context* context, plait_summation** summation) {
  return create(
      context, summation, "summation", [](auto&, auto&) {},
      [](plait_summation& made) { made.sum.emplace(*made.context); });
}

int plait_summation_free(plait_summation** summation) { return free_handle(summation, "summation"); }

int plait_summation_allreduce(plait_summation* summation, const void* in, void* out, plait_index count,
                              plait_type type) {
  return guarded([&] { checked(summation, in, out, count, type, {}).allreduce(in, out, count, element(type)); });
}

int plait_summation_reduce(plait_summation* summation, const void* in, void* out, plait_index count, plait_type type,
                           int root) {
  return guarded([&] { checked(summation, in, out, count, type, root).reduce(in, out, count, root, element(type)); });
}
