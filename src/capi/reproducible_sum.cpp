#include "plait/collective/reproducible_sum.hpp"

#include <optional>

#include "capi/handle.hpp"

using namespace plait::capi;
using plait::Index;

struct plait_summation : OnContext<plait_summation> {
  static constexpr const char* name = "a summation";
  std::optional<plait::collective::ReproducibleSum> sum;
};

namespace {

/// A sum of arrays, which all ranks have where there is no root.
/// \param add  called when nothing is wrong anywhere
template <class Add>
int sum_up(plait_summation* summation, const void* in, void* out, Index count, plait_type type, std::optional<int> root,
           Add&& add) {
  return collective(
      summation, "summation",
      [&](plait_summation& its, plait::mpi::Alike& arguments) {
        const Index bytes = plait::bytes(dtype<plait::FieldDTypes>(type));
        if (root) expect_below("root", *root, its.context->size());
        static_cast<void>(expect_elements(in, count, bytes, "in"));
        if (!root || *root == its.context->rank()) static_cast<void>(expect_elements(out, count, bytes, "out"));
        arguments.add("type", type);
        arguments.add("count", count);
        arguments.add("root", root.value_or(-1));
      },
      [&](plait_summation& its) { std::forward<Add>(add)(*its.sum); });
}

}  // namespace

int plait_reproducible_sum(plait_context* context, const void* addends, plait_index count, plait_type type,
                           void* result) {
  return collective(
      context, "context",
      [&](auto&, plait::mpi::Alike& arguments) {
        if (result == nullptr) throw plait::ArgumentError("result: is NULL, expected the address of a result");
        const Index bytes = plait::bytes(dtype<plait::FieldDTypes>(type));
        static_cast<void>(expect_elements(addends, count, bytes, "addends"));
        arguments.add("type", type);
      },
      [&](auto& its) {
        plait::collective::reproducible_sum(*its.context, static_cast<plait::DType>(type), addends, count, result);
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
  return sum_up(summation, in, out, count, type, {}, [&](auto& sum) { sum.allreduce(in, out, count, element(type)); });
}

int plait_summation_reduce(plait_summation* summation, const void* in, void* out, plait_index count, plait_type type,
                           int root) {
  return sum_up(summation, in, out, count, type, root,
                [&](auto& sum) { sum.reduce(in, out, count, root, element(type)); });
}
