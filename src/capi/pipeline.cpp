#include "plait/collective/pipeline.hpp"

#include <cstdint>
#include <exception>
#include <list>
#include <optional>
#include <span>
#include <string>

#include "plait/base/random.hpp"
#include "plait/mpi/agreed.hpp"

#include "capi/handle.hpp"
#include "capi/reduction.hpp"

using namespace plait::capi;
using plait::Index;
using plait::collective::Group;
using plait::collective::Pipeline;
using plait::collective::PipelineOptions;

struct plait_pipeline : OnContext<plait_pipeline> {
  static constexpr const char* name = "a pipeline";
  std::list<Reduction> reductions;  // which stay where they are
  bool may_fail = false;
  bool is_under_way = false;
  Index elements = 0;
  Index element_bytes = 1;
  std::optional<plait::schedule::Schedule> schedule;
};

namespace {

PipelineOptions options_of(const plait_pipeline_options* given) {
  PipelineOptions options;
  if (given == nullptr) return options;
  if (given->strands != 0) options.strands = given->strands;
  if (given->segment_bytes != 0) options.segment_bytes = given->segment_bytes;
  return options;
}

Group group_of(const plait::mpi::Context& context, const plait_stage& stage) {
  if (stage.ranks == nullptr) {
    if (stage.rank_count != 0) expect_array(stage.ranks, stage.rank_count, "ranks");
    return Group::all(context);
  }
  const auto ranks = expect_array(stage.ranks, stage.rank_count, "ranks");
  expect_at_least("widest", stage.widest, 0);
  return {context, {ranks.begin(), ranks.end()}, stage.widest};
}

/// Appends a stage to the pipeline.
void append(plait_pipeline& handle, Pipeline& pipeline, const plait_stage& stage) {
  const auto reduction = [&] {
    const Reduction& its = handle.reductions.emplace_back(&stage.reduction);
    handle.may_fail = handle.may_fail || its.may_fail();
    return its.combine();
  };
  switch (stage.kind) {
    case PLAIT_STAGE_BROADCAST: pipeline.broadcast(group_of(*handle.context, stage), stage.root); return;
    case PLAIT_STAGE_REDUCE: pipeline.reduce(group_of(*handle.context, stage), stage.root, reduction()); return;
    case PLAIT_STAGE_ALLREDUCE: pipeline.allreduce(group_of(*handle.context, stage), reduction()); return;
    case PLAIT_STAGE_COMPUTE: break;
    default:
      throw plait::ArgumentError("kind: is " + std::to_string(stage.kind) +
                                 ", expected PLAIT_STAGE_BROADCAST to PLAIT_STAGE_COMPUTE");
  }
  if (stage.compute == nullptr) throw plait::ArgumentError("compute: is NULL, expected a function");
  handle.may_fail = true;
  pipeline.compute([compute = stage.compute, data = stage.data, element_bytes = handle.element_bytes](
                       std::span<std::byte> elements, Index first) {
    const Index count = std::ssize(elements) / element_bytes;
    expect_returned_zero(compute(elements.data(), first, count, data),
                         "elements " + std::to_string(first) + " to " + std::to_string(first + count - 1));
  });
}

/// What the ranks have to agree upon beside what `Pipeline` compares.
std::uint64_t checksum(const plait_stage& stage) {
  const bool reduces = stage.kind == PLAIT_STAGE_REDUCE || stage.kind == PLAIT_STAGE_ALLREDUCE;
  const auto bits = static_cast<std::uint64_t>(stage.kind);
  if (!reduces) return bits;
  return plait::random_bits(plait::random_bits(bits, static_cast<std::uint64_t>(stage.reduction.operation)),
                            static_cast<std::uint64_t>(stage.reduction.type));
}

void start(plait_pipeline& its, void* data) {
  expect_mpi();
  std::span<std::byte> bytes;
  std::exception_ptr failure;
  const bool was_under_way = its.is_under_way;
  try {
    if (was_under_way) {
      throw plait::ArgumentError(
          "pipeline: an execution of it is under way, expected plait_pipeline_wait to end that one first");
    }
    bytes = expect_elements(data, its.elements, its.element_bytes, "data");
    its.context->expect_usable();
    its.schedule->prepare();
  } catch (...) {
    failure = std::current_exception();
  }
  try {
    plait::mpi::agree(*its.context, failure);
  } catch (...) {
    if (!was_under_way) its.schedule->give_back();
    throw;
  }
  const auto binding = plait::schedule::Binding::output(bytes);
  its.schedule->start({&binding, 1});
  its.is_under_way = true;
}

void wait(plait_pipeline& its) {
  expect_mpi();
  if (!its.is_under_way) return;
  its.is_under_way = false;
  wait_for_all(*its.context, its.may_fail, [&] { its.schedule->wait(); });
}

}  // namespace

int plait_pipeline_create(plait_context* context, plait_index elements, plait_index element_bytes,
                          const plait_stage* stages, plait_index stage_count, const plait_pipeline_options* options,
                          plait_pipeline** pipeline) {
  std::optional<Pipeline> planned;
  return create(
      context, pipeline, "pipeline",
      [&](plait_pipeline& made, plait::mpi::Alike& arguments) {
        made.elements = elements;
        made.element_bytes = element_bytes;
        planned.emplace(*made.context, elements, element_bytes, options_of(options));
        arguments.add("stage_count", stage_count);
        std::size_t number = 0;
        std::uint64_t bits = 0;
        for (const plait_stage& stage : expect_array(stages, stage_count, "stages")) {
          named("stage " + std::to_string(number++), [&] { append(made, *planned, stage); });
          bits = plait::random_bits(bits, checksum(stage));
        }
        arguments.add("stages, as a checksum", bits);
      },
      [&](plait_pipeline& made) { made.schedule.emplace(planned->schedule("pipeline")); });
}

int plait_pipeline_free(plait_pipeline** pipeline) { return free_handle(pipeline, "pipeline"); }

int plait_pipeline_execute(plait_pipeline* pipeline, void* data) {
  return guarded([&] {
    plait_pipeline& its = expect_handle(pipeline, "pipeline");
    start(its, data);
    wait(its);
  });
}

int plait_pipeline_start(plait_pipeline* pipeline, void* data) {
  return guarded([&] { start(expect_handle(pipeline, "pipeline"), data); });
}

int plait_pipeline_progress(plait_pipeline* pipeline, int* done) {
  return guarded([&] {
    plait_pipeline& its = expect_handle(pipeline, "pipeline");
    expect_mpi();
    const bool is_done = !its.is_under_way || its.schedule->progress();
    if (done != nullptr) *done = is_done ? 1 : 0;
  });
}

int plait_pipeline_wait(plait_pipeline* pipeline) {
  return guarded([&] { wait(expect_handle(pipeline, "pipeline")); });
}
