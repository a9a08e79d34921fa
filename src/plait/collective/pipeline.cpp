#include "plait/collective/pipeline.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/collective/algorithm/algorithms.hpp"
#include "plait/collective/mpi_strands.hpp"
#include "plait/collective/stream.hpp"
#include "plait/mpi/agreed.hpp"

namespace plait::collective {

namespace {

constexpr Index longest_mpi_segment = Index{1} << 30;  // bytes: an int counts them

// f for each of the alternatives.
template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;  // clang 14 wants it said

// f(step) for each that is not a computation.
template <class Steps, class F>
void for_each_communication(Steps&& steps, const F& f) {
  for (auto& step : steps) {
    std::visit(
        [&](auto& s) {
          if constexpr (requires { s.group; }) f(s);
        },
        step);
  }
}

// MPI's collectives go on with what a computation that failed has left.
template <class Steps>
bool may_fail_before_communication(const Steps& steps) {
  bool computes = false;
  for (const auto& step : steps) {
    const bool communicates = std::visit([](const auto& s) { return requires { s.group; }; }, step);
    if (communicates && computes) return true;
    computes = computes || !communicates;
  }
  return false;
}

}  // namespace

Pipeline::Pipeline(mpi::Context& context, Index elements, Index element_bytes, PipelineOptions options)
    : context_(&context), elements_(elements), element_bytes_(element_bytes), options_(options) {
  expect_at_least("elements", elements, 0);
  expect_at_least("element_bytes", element_bytes, 1);
  expect_strands(options.strands.value_or(1));
  expect_at_least("segment_bytes", options.segment_bytes.value_or(1), 1);
  if (elements > std::numeric_limits<Index>::max() / element_bytes) {
    throw ArgumentError(fmt::format("elements: {}, expected at most {} of {} bytes", elements,
                                    std::numeric_limits<Index>::max() / element_bytes, element_bytes));
  }
  // A message holds no more than the vector, whose length can be multiplied.
  if (options_.segment_bytes) {
    options_.segment_bytes = std::min(*options_.segment_bytes, std::max<Index>(elements * element_bytes, 1));
  }
}

void Pipeline::expect_suitable(const Combine& combine) const {
  expect_pairwise(Stream(element_bytes_, {}), combine);
  if (options_.backend == Backend::mpi && !combine.of_mpi())
    throw ArgumentError("combine: none of MPI's operations, expected one for MPI's own collectives");
}

// Groups that do the same side by side may differ in all but their width and whether operands keep their order.
void Pipeline::name_arguments(mpi::Alike& arguments) const {
  arguments.add("elements", elements_);
  arguments.add("element_bytes", element_bytes_);
  arguments.add("backend", options_.backend == Backend::mpi ? "mpi" : "plait");
  arguments.add("strands", options_.strands.value_or(0));
  arguments.add("segment_bytes", options_.segment_bytes.value_or(0));
  arguments.add("steps", steps_.size());
  arguments.numbers("step");
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    constexpr std::array<std::string_view, 4> names{"reduce", "broadcast", "allreduce", "compute"};
    const auto number = static_cast<Index>(i);
    arguments.add("operation", names[steps_[i].index()], number);
    std::visit(
        [&](const auto& step) {
          if constexpr (requires { step.group; }) arguments.add("widest group", step.group.widest(), number);
          if constexpr (requires { step.combine; }) {
            if (step.group.size() == context_->size()) {
              step.combine.name_arguments(arguments, number);
            } else {
              arguments.add("in any order", step.combine.commutes(), number);
            }
          }
          if constexpr (requires { step.root; }) {
            if (step.group.size() == context_->size()) arguments.add("root", step.root, number);
          }
        },
        steps_[i]);
  }
}

Pipeline& Pipeline::reduce(Group group, int root, const Combine& combine) {
  group.expect_member(root);
  expect_suitable(combine);
  steps_.emplace_back(Reduce{std::move(group), root, combine});
  return *this;
}

Pipeline& Pipeline::broadcast(Group group, int root) {
  group.expect_member(root);
  steps_.emplace_back(Broadcast{std::move(group), root});
  return *this;
}

Pipeline& Pipeline::allreduce(Group group, const Combine& combine) {
  expect_suitable(combine);
  steps_.emplace_back(Allreduce{std::move(group), combine});
  return *this;
}

Pipeline& Pipeline::compute(std::function<void(std::span<std::byte> elements, Index first)> f) {
  steps_.emplace_back(Compute{std::move(f)});
  return *this;
}

// Of smaller groups it could hold for some ranks only, and all have to do the same.
std::vector<Pipeline::Step> Pipeline::merged() const {
  std::vector<Step> steps;
  for (const Step& step : steps_) {
    const auto* const broadcast = std::get_if<Broadcast>(&step);
    const auto* const reduce = steps.empty() ? nullptr : std::get_if<Reduce>(&steps.back());
    if (broadcast != nullptr && reduce != nullptr && reduce->group == broadcast->group &&
        reduce->root == broadcast->root && reduce->group.size() == context_->size()) {
      steps.back() = Allreduce{reduce->group, reduce->combine};
    } else {
      steps.push_back(step);
    }
  }
  return steps;
}

// Groups that do the same side by side choose the same, whatever their sizes and wherever their ranks are: the widest
// one's way, and as between nodes, which is where it counts, if there are several.
model::Placement Pipeline::placement_of(const Group& group) const {
  if (group.size() == context_->size()) return context_->placement();
  return {group.widest(), context_->topology().nodes() == 1 ? group.widest() : 1};
}

// Levels are left out where they can't be taken, and where all of them are one node in which nothing is shared: the
// model takes nodes to share memory.
template <class Communication>
auto Pipeline::wishes_for(const Communication& step, const Cut& cut) const {
  model::Wishes<typename Communication::Algorithm> wishes{.strands = cut.strands, .segment_bytes = cut.message_bytes};
  if constexpr (std::is_same_v<Communication, Allreduce>) {
    const bool shares = options_.within_nodes == WithinNodes::shared_memory;
    if (!may_take_levels(*context_, step.group, step.combine) || (!shares && context_->topology().nodes() == 1))
      wishes.except = model::AllreduceAlgorithm::hierarchical;
  }
  return wishes;
}

template <class Communication>
auto Pipeline::choice_for(const Communication& step, const Cut& cut) const {
  return choose(*context_, placement_of(step.group), elements_ * element_bytes_, wishes_for(step, cut));
}

// The least cost of an operation on pieces that are made of such messages, and how many bytes a piece has.
template <class Communication>
model::PieceCost Pipeline::piece_of(const Communication& step, Index message_bytes) const {
  const auto& alternatives =
      context_->choices().alternatives().of<typename Communication::Algorithm>(placement_of(step.group));
  const auto choice = model::choose(context_->machine(), alternatives, elements_ * element_bytes_,
                                    wishes_for(step, {.strands = 1, .message_bytes = message_bytes}));
  const Index bytes = message_bytes * messages_of_segment(choice.algorithm, step.group);
  return {bytes, alternatives.of(choice.algorithm).of(context_->machine(), bytes, message_bytes)};
}

// Of one operation as it likes it best; of several so that one can begin while another is not done.
Pipeline::Cut Pipeline::choose_algorithms(std::vector<Step>& steps) const {
  Cut cut{options_.strands, options_.segment_bytes};
  const auto choose_for = [&](auto& step) {
    const auto choice = choice_for(step, cut);
    step.algorithm = choice.algorithm;
    return Cut{choice.strands, choice.segment_bytes};
  };
  int communications = 0;
  for_each_communication(steps, [&](const auto&) { ++communications; });
  if (communications == 1) {
    for_each_communication(steps, [&](auto& step) { cut = choose_for(step); });
    return cut;
  }
  const auto piece_of_all = [&](Index message_bytes) {
    model::PieceCost all{message_bytes, {}};
    for_each_communication(steps, [&](const auto& step) {
      const model::PieceCost piece = piece_of(step, message_bytes);
      // While one operation sends, another may receive: the busiest one of them is what pieces wait for.
      all.bytes = std::max(all.bytes, piece.bytes);
      all.cost.first_seconds += piece.cost.first_seconds;
      all.cost.network_seconds = std::max(all.cost.network_seconds, piece.cost.network_seconds);
      all.cost.core_seconds += piece.cost.core_seconds;
    });
    return all;
  };
  if (!cut.strands) cut.strands = 1;  // the pieces overlap as strands would
  if (!cut.message_bytes) {
    const auto& link = context_->topology().nodes() == 1 ? context_->machine().node : context_->machine().network;
    cut.message_bytes =
        model::choose_segment(link.streams.front().both_ways, elements_ * element_bytes_ / *cut.strands, piece_of_all);
  }
  for_each_communication(steps, choose_for);
  return cut;
}

Index Pipeline::segment_bytes(const std::vector<Step>& steps, const Cut& cut) {
  int messages = 1;
  for_each_communication(
      steps, [&](const auto& step) { messages = std::max(messages, messages_of_segment(step.algorithm, step.group)); });
  return *cut.message_bytes * messages;
}

// The same on all ranks, without memory.
bool Pipeline::may_share_memory(const Step& step) const {
  return std::holds_alternative<Allreduce>(step) && options_.within_nodes == WithinNodes::shared_memory &&
         context_->topology().ranks_per_node() > 1;
}

bool Pipeline::shares_memory(const Step& step) const {
  const auto& its = std::get<Allreduce>(step);
  return its.algorithm == model::AllreduceAlgorithm::hierarchical && may_take_levels(*context_, its.group, its.combine);
}

Stream Pipeline::append(Graph& graph, const Step& step, const Stream& stream, Place data, const GroupWay& way) const {
  return std::visit(
      Overloaded{
          [&](const Reduce& s) {
            return reduce_by(s.algorithm, graph, s.group, s.root, stream, {data, data, s.combine});
          },
          [&](const Broadcast& s) { return broadcast_by(s.algorithm, graph, s.group, s.root, stream, data); },
          [&](const Allreduce& s) {
            return allreduce_by(s.algorithm, graph, *context_, s.group, stream, {data, data, s.combine}, way);
          },
          [&](const Compute& s) { return computed(graph, s.f, stream, data); },
      },
      step);
}

Stream Pipeline::append_mpi(Graph& graph, const Step& step, const Stream& stream, Place data,
                            const MpiStrands& strands) {
  return std::visit(
      Overloaded{
          [&](const Reduce& s) { return strands.reduce(graph, s.root, stream, data, data, *s.combine.of_mpi()); },
          [&](const Broadcast& s) { return strands.broadcast(graph, s.root, stream, data); },
          [&](const Allreduce& s) { return strands.allreduce(graph, stream, data, data, *s.combine.of_mpi()); },
          [&](const Compute&) { return stream; },
      },
      step);
}

// Ranks work by themselves, then wait for each other to take communicators or shared memory. What one of them throws
// meanwhile, all throw before that.
schedule::Schedule Pipeline::schedule(std::string label, schedule::Windows windows) const {
  const bool by_mpi = options_.backend == Backend::mpi;
  const bool agrees = by_mpi || options_.within_nodes == WithinNodes::shared_memory;
  std::exception_ptr failure;
  const auto alone = [&](const auto& f) {
    if (!agrees) return f();
    try {
      if (!failure) f();
    } catch (...) {
      failure = std::current_exception();
    }
  };
  const auto agree = [&] {
    if (agrees) mpi::agree(*context_, failure);
  };

  std::optional<mpi::Alike> arguments;
  if (agrees) arguments.emplace();
  std::vector<Step> steps;
  Cut cut;
  Stream stream(element_bytes_, {});
  std::optional<Graph> graph;
  Place data{};
  alone([&] {
    if (arguments) name_arguments(*arguments);
    steps = by_mpi ? steps_ : merged();
    cut = by_mpi ? Cut{options_.strands.value_or(1), longest_mpi_segment} : choose_algorithms(steps);
    const Index bytes = by_mpi ? longest_mpi_segment : segment_bytes(steps, cut);
    stream = Stream::cut(elements_, element_bytes_, *cut.strands, std::max<Index>(bytes / element_bytes_, 1));
    graph.emplace(*cut.strands);
    data.slot = graph->output(elements_ * element_bytes_);
  });
  if (arguments) mpi::agree(*context_, failure, *arguments);

  std::shared_ptr<MpiVerdict> verdict;
  if (by_mpi && may_fail_before_communication(steps)) {
    auto comm = mpi::Communicator::duplicate(context_->comm().handle());
    alone([&] { verdict = std::make_shared<MpiVerdict>(std::move(comm)); });
  }
  for (const Step& step : steps) {
    if (const auto* const compute = std::get_if<Compute>(&step)) {
      alone([&] { stream = computed(*graph, verdict ? told_to(verdict, compute->f) : compute->f, stream, data); });
    } else if (by_mpi) {
      std::optional<Group> group;
      alone([&] { for_each_communication(std::span(&step, 1), [&](const auto& its) { group.emplace(its.group); }); });
      agree();
      alone([&] {
        stream = append_mpi(*graph, step, stream, data, MpiStrands(*context_, std::move(*group), *cut.strands));
      });
    } else {
      GroupWay way;
      if (may_share_memory(step)) {
        bool shares = false;
        alone([&] { shares = shares_memory(step); });
        agree();
        if (shares) way = GroupWay::through_memory(*context_, stream);
      }
      alone([&] { stream = append(*graph, step, stream, data, way); });
    }
  }
  std::optional<schedule::Schedule> made;
  alone([&] {
    if (verdict) append_verdict(*graph, verdict, stream, label);
    made.emplace(*context_, std::move(*graph), std::move(label), windows);
  });
  agree();
  return std::move(*made);
}

}  // namespace plait::collective
