#include "plait/redistribute/plan.hpp"

#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plait/base/error.hpp"
#include "plait/redistribute/matrix_pair.hpp"
#include "plait/redistribute/operands.hpp"
#include "plait/redistribute/options.hpp"

#include "capi/handle.hpp"

using namespace plait::capi;
using plait::Index;
using plait::redistribute::MatrixPair;
using plait::redistribute::Operands;
using plait::redistribute::Options;
using plait::redistribute::Plan;
using plait::redistribute::TileList;

struct plait_plan : plait::capi::OnContext<plait_plan> {
  static constexpr const char* name = "a plan";
  /// Of each pair, the tiles of this rank.
  struct Tiles {
    std::vector<plait::layout::TileExtent> source;
    std::vector<plait::layout::TileExtent> target;
  };
  std::vector<Tiles> tiles;
  std::unique_ptr<plait::redistribute::Plan> plan;
};

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

Operands operands_of(const plait_operands& given, const plait_plan::Tiles& planned) {
  const plait::DType type = dtype(given.type);
  const Index bytes = plait::bytes(type);
  const bool reads_source = plait::with_dtype(type, [&]<class T>() { return scalar(given.alpha, T{1}) != T{0}; });
  TileList source;
  if (reads_source) source = tile_list(given.source, given.source_count, planned.source, "source", bytes);
  return {type, given.alpha, std::move(source), given.beta,
          tile_list(given.target, given.target_count, planned.target, "target", bytes)};
}

/// What C gave to an execution as what C++ takes, checked as far as one rank can.
std::vector<Operands> operands_of(const plait_plan& plan, const plait_operands* operands, Index count) {
  const auto given = expect_array(operands, count, "operands");
  if (given.size() != plan.tiles.size()) {
    throw plait::ArgumentError("count: is " + std::to_string(count) + ", expected one for each of the " +
                               std::to_string(plan.tiles.size()) + " pairs of the plan");
  }
  std::vector<Operands> result;
  result.reserve(given.size());
  for (std::size_t i = 0; i < given.size(); ++i) {
    result.push_back(named_pair(i, count, [&] { return operands_of(given[i], plan.tiles[i]); }));
  }
  return result;
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
