#include "plait/redistribute/plan.hpp"

#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plait/base/error.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/redistribute/matrix_pair.hpp"
#include "plait/redistribute/options.hpp"

#include "capi/arguments.hpp"
#include "capi/communicator.hpp"
#include "capi/convert.hpp"
#include "capi/error.hpp"
#include "capi/handle.hpp"
#include "capi/operands.hpp"
#include "capi/plait.h"

using namespace plait::capi;
using plait::redistribute::MatrixPair;
using plait::redistribute::Operands;
using plait::redistribute::Options;
using plait::redistribute::Plan;

namespace {

Options options_of(const plait_options* given) {
  Options options;
  if (given == nullptr) return options;
  if (given->memory_budget != 0) options.memory_budget = given->memory_budget;
  if (given->chunk_bytes != 0) options.chunk_bytes = given->chunk_bytes;
  return options;
}

/// The plan of a handle, for what MPI has to be running for.
Plan& usable(plait_plan& plan) {
  expect_mpi();
  return *plan.plan;
}

void start(plait_plan& handle, const plait_operands* operands, plait_index count) {
  Plan& plan = usable(handle);
  if (plan.is_under_way()) {
    throw plait::ArgumentError("plan: an execution of it is under way, expected plait_wait to end that one first");
  }
  std::vector<Operands> given;
  std::exception_ptr failure;
  try {
    given = operands_of(handle, operands, count);
  } catch (...) {
    failure = std::current_exception();
  }
  plan.start(given, failure);
}

}  // namespace

int plait_plan_create(plait_context* context, const plait_layout* from, const plait_layout* to, plait_op op,
                      const plait_options* options, plait_plan** plan) {
  const plait_pair pair{from, to, op};
  return plait_plan_create_batch(context, &pair, 1, options, plan);
}

int plait_plan_create_batch(plait_context* context, const plait_pair* pairs, plait_index count,
                            const plait_options* options, plait_plan** plan) {
  std::vector<MatrixPair> known;
  return create(
      context, plan, "plan",
      [&](plait_plan& made, plait::mpi::Alike&) {
        const int rank = made.context->rank();
        for (const plait_pair& pair : expect_array(pairs, count, "pairs")) {
          known.push_back(named_pair(known.size(), count, [&] { return matrix_pair(pair); }));
          made.tiles.push_back({known.back().from.tiles_of(rank), known.back().to.tiles_of(rank)});
        }
      },
      [&](plait_plan& made) {  // which agrees on all else
        made.plan = Plan::agreed(*made.context, [&] { return std::move(known); }, options_of(options));
      });
}

int plait_plan_free(plait_plan** plan) { return free_handle(plan, "plan"); }

int plait_plan_volume(const plait_plan* plan, plait_index pair, plait_volume* volume) {
  return guarded([&] {
    const plait_plan& its = expect_handle(plan, "plan");
    expect_below("pair", pair, static_cast<plait_index>(its.tiles.size()));
    const auto [sent, received, kept] = its.plan->volume(static_cast<std::size_t>(pair));
    expect_output(volume, "volume") = {sent, received, kept};
  });
}

int plait_execute(plait_plan* plan, const plait_operands* operands, plait_index count) {
  return guarded([&] {
    plait_plan& its = expect_handle(plan, "plan");
    start(its, operands, count);
    its.plan->wait();
  });
}

int plait_start(plait_plan* plan, const plait_operands* operands, plait_index count) {
  return guarded([&] { start(expect_handle(plan, "plan"), operands, count); });
}

int plait_progress(plait_plan* plan, int* done) {
  return guarded([&] {
    const bool is_done = usable(expect_handle(plan, "plan")).progress();
    if (done != nullptr) *done = is_done ? 1 : 0;
  });
}

int plait_wait(plait_plan* plan) {
  return guarded([&] { usable(expect_handle(plan, "plan")).wait(); });
}
