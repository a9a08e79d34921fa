#include "plait/collective/calls.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/collective/algorithm/algorithms.hpp"
#include "plait/collective/algorithm/blocks.hpp"
#include "plait/collective/algorithm/exchange.hpp"
#include "plait/collective/algorithm/to_all.hpp"
#include "plait/collective/pipeline.hpp"

namespace plait::collective {

namespace {

using schedule::Binding;

constexpr PipelineOptions at_once{.within_nodes = WithinNodes::messages};  // schedules are made without waiting

Index elements(std::span<const std::byte> data, Index element_bytes) {
  return static_cast<Index>(data.size()) / element_bytes;
}

// One operation on a vector in place.
Pending pending(const Pipeline& pipeline, std::string label, std::span<std::byte> data) {
  return {pipeline.schedule(std::move(label)), {Binding::output(data), Binding::output({})}, 1};
}

void add_counts(mpi::Alike& arguments, std::span<const Index> counts) {
  arguments.numbers("block");
  arguments.add("counts", counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i) arguments.add("count", counts[i], static_cast<Index>(i));
}

// Sums up, after it was made sure that there is one for each rank, no negative one, and not more than can be addressed.
Index total(const mpi::Context& context, std::span<const Index> counts, Index element_bytes, std::string_view name) {
  expect_at_least("element_bytes", element_bytes, 1);
  const Index most = std::numeric_limits<Index>::max() / element_bytes;
  if (static_cast<int>(counts.size()) != context.size())
    throw ArgumentError(
        fmt::format("{}: {} of them, expected one for each of the {} ranks", name, counts.size(), context.size()));
  Index sum = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] < 0) throw ArgumentError(fmt::format("{}[{}]: {}, expected 0 or more", name, i, counts[i]));
    if (counts[i] > most - sum) {
      throw ArgumentError(fmt::format("{}[{}]: {} after {} before it, expected at most {} elements of {} bytes", name,
                                      i, counts[i], sum, most, element_bytes));
    }
    sum += counts[i];
  }
  return sum;
}

template <class Choice>
Blocks cut(std::span<const Index> counts, Index element_bytes, const Choice& choice) {
  return Blocks::cut(counts, element_bytes, choice.strands, std::max<Index>(choice.segment_bytes / element_bytes, 1));
}

void expect_bytes(std::span<const std::byte> memory, Index elements, Index element_bytes, std::string_view name) {
  if (static_cast<Index>(memory.size()) >= elements * element_bytes) return;
  throw ArgumentError(
      fmt::format("{}: {} bytes, expected {} elements of {} bytes", name, memory.size(), elements, element_bytes));
}

}  // namespace

Pending::Pending(schedule::Schedule schedule, const std::array<Binding, 2>& bindings, std::size_t used)
    : schedule_(std::move(schedule)), bindings_(bindings), used_(used) {
  schedule_.prepare();
}

Pending plan_broadcast(mpi::Context& context, std::span<std::byte> data, int root, mpi::Alike* arguments) {
  if (arguments != nullptr) {
    arguments->add("collective operation", "broadcast");
    arguments->add("bytes", data.size());
    arguments->add("root", root);
  }
  return context.reserve().with([&] {
    Pipeline pipeline(context, static_cast<Index>(data.size()), 1, at_once);
    return pending(pipeline.broadcast(Group::all(context), root), "broadcast", data);
  });
}

Pending plan_reduce(mpi::Context& context, std::span<std::byte> data, int root, const Combine& combine,
                    mpi::Alike* arguments) {
  const Index n = elements(data, combine.element_bytes());
  if (arguments != nullptr) {
    arguments->add("collective operation", "reduce");
    combine.name_arguments(*arguments);
    arguments->add("elements", n);
    arguments->add("root", root);
  }
  return context.reserve().with([&] {
    Pipeline pipeline(context, n, combine.element_bytes(), at_once);
    return pending(pipeline.reduce(Group::all(context), root, combine), "reduce", data);
  });
}

Pending plan_allreduce(mpi::Context& context, std::span<std::byte> data, const Combine& combine,
                       mpi::Alike* arguments) {
  const Index n = elements(data, combine.element_bytes());
  if (arguments != nullptr) {
    arguments->add("collective operation", "allreduce");
    combine.name_arguments(*arguments);
    arguments->add("elements", n);
  }
  return context.reserve().with([&] {
    Pipeline pipeline(context, n, combine.element_bytes(), at_once);
    return pending(pipeline.allreduce(Group::all(context), combine), "allreduce", data);
  });
}

Pending plan_reduce_scatter(mpi::Context& context, std::span<const std::byte> in, std::span<std::byte> out,
                            std::span<const Index> counts, const Combine& combine, mpi::Alike* arguments) {
  if (arguments != nullptr) {
    arguments->add("collective operation", "reduce_scatter");
    combine.name_arguments(*arguments);
    add_counts(*arguments, counts);
  }
  const Index element_bytes = combine.element_bytes();
  const Index all = total(context, counts, element_bytes, "counts");
  const Index own = counts[at(context.rank())];
  expect_bytes(in, all, element_bytes, "in");
  expect_bytes(out, own, element_bytes, "out");
  return context.reserve().with([&]() -> Pending {
    const auto choice = choose<model::ReduceScatterAlgorithm>(context, context.placement(), all * element_bytes);
    Graph graph(choice.strands);
    const SlotId from = graph.input(all * element_bytes);
    const SlotId to = graph.output(own * element_bytes);
    const Blocks blocks = cut(counts, element_bytes, choice);
    const Group group = Group::all(context);
    const Place own_block = at_beginning(group, blocks, {to});
    static_cast<void>(reduce_scatter_by(choice.algorithm, graph, group, blocks, {{from}, own_block, combine}));
    return {
        schedule::Schedule(context, std::move(graph), "reduce_scatter"), {Binding::input(in), Binding::output(out)}, 2};
  });
}

Pending plan_all_gather(mpi::Context& context, std::span<const std::byte> own, std::span<std::byte> all,
                        std::span<const Index> counts, Index element_bytes, mpi::Alike* arguments) {
  if (arguments != nullptr) {
    arguments->add("collective operation", "all_gather");
    arguments->add("element_bytes", element_bytes);
    add_counts(*arguments, counts);
  }
  const Index elements = total(context, counts, element_bytes, "counts");
  expect_bytes(own, counts[at(context.rank())], element_bytes, "own");
  expect_bytes(all, elements, element_bytes, "all");
  return context.reserve().with([&]() -> Pending {
    return {all_gather_schedule(context, counts, element_bytes), {Binding::input(own), Binding::output(all)}, 2};
  });
}

schedule::Schedule all_gather_schedule(mpi::Context& context, std::span<const Index> counts, Index element_bytes) {
  const Index elements = total(context, counts, element_bytes, "counts");
  const auto choice = choose<model::AllGatherAlgorithm>(context, context.placement(), elements * element_bytes);
  const Group group = Group::all(context);
  Graph graph(choice.strands);
  const SlotId from = graph.input(counts[at(context.rank())] * element_bytes);
  const Place data{graph.output(elements * element_bytes)};
  Blocks blocks = copy_own_block(graph, group, cut(counts, element_bytes, choice), {from}, data);
  static_cast<void>(all_gather_by(choice.algorithm, graph, group, std::move(blocks), data));
  return {context, std::move(graph), "all_gather"};
}

Pending plan_all_to_all(mpi::Context& context, std::span<const std::byte> in, std::span<const Index> send_counts,
                        std::span<std::byte> out, std::span<const Index> receive_counts, Index element_bytes,
                        mpi::Alike* arguments) {
  if (arguments != nullptr) {
    arguments->add("collective operation", "all_to_all");
    arguments->add("element_bytes", element_bytes);
  }
  const Index sent = total(context, send_counts, element_bytes, "send_counts");
  const Index received = total(context, receive_counts, element_bytes, "receive_counts");
  expect_bytes(in, sent, element_bytes, "in");
  expect_bytes(out, received, element_bytes, "out");
  return context.reserve().with([&]() -> Pending {
    // Each rank knows its own counts alone, so what is chosen does not depend on them.
    const auto choice =
        choose<model::AllToAllAlgorithm>(context, context.placement(), Index{context.size()} << 20, {.strands = 1});
    Graph graph;
    const SlotId from = graph.input(sent * element_bytes);
    const SlotId to = graph.output(received * element_bytes);
    const auto order =
        choice.algorithm == model::AllToAllAlgorithm::pairwise ? ExchangeOrder::pairwise : ExchangeOrder::spread;
    ExchangedBlocks blocks{cut(send_counts, element_bytes, choice), cut(receive_counts, element_bytes, choice)};
    static_cast<void>(all_to_all(graph, Group::all(context), order, std::move(blocks), {from}, {to}));
    return {schedule::Schedule(context, std::move(graph), "all_to_all"), {Binding::input(in), Binding::output(out)}, 2};
  });
}

}  // namespace plait::collective
