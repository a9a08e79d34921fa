#include "plait/collective/pipeline.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/collective/algorithms.hpp"
#include "plait/collective/arguments.hpp"
#include "plait/collective/choose.hpp"
#include "plait/collective/computed.hpp"
#include "plait/collective/mpi_strands.hpp"

namespace plait::collective {

namespace {

constexpr Index longest_mpi_segment = Index{1} << 30;  // bytes: an int counts them

// f for each of the alternatives.
template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};

}  // namespace

Pipeline::Pipeline(mpi::Context& context, Index elements, Index element_bytes, PipelineOptions options)
    : context_(&context), elements_(elements), element_bytes_(element_bytes), options_(options) {
  const auto expect_at_least = [](Index least, Index value, const char* name) {
    if (value < least) throw ArgumentError(fmt::format("{}: {}, expected at least {}", name, value, least));
  };
  expect_at_least(0, elements, "elements");
  expect_at_least(1, element_bytes, "element_bytes");
  expect_at_least(1, options.strands.value_or(1), "strands");
  expect_at_least(1, options.segment_bytes.value_or(1), "segment_bytes");
}

void Pipeline::expect_suitable(const Combine& combine) const {
  expect_pairwise(Stream(element_bytes_, {}), combine);
  if (options_.backend == Backend::mpi && !combine.of_mpi())
    throw ArgumentError("combine: none of MPI's operations, expected one for MPI's own collectives");
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
      Allreduce both{reduce->group, reduce->combine};
      steps.back() = std::move(both);
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

template <model::Algorithm A>
model::Choice<A> Pipeline::choice_for(const Group& group, const Cut& cut) const {
  return choose<A>(*context_, placement_of(group), elements_ * element_bytes_,
                   {.strands = cut.strands, .segment_bytes = cut.message_bytes});
}

// The least cost of an operation on pieces that are made of such messages, and how many bytes a piece has.
template <model::Algorithm A>
model::Piece Pipeline::piece_of(const Group& group, Index message_bytes) const {
  const auto choice = model::choose<A>(context_->machine(), placement_of(group), elements_ * element_bytes_,
                                       {.strands = 1, .segment_bytes = message_bytes});
  const Index bytes = message_bytes * messages_of_segment(choice.algorithm, group);
  return {bytes, model::cost(choice.algorithm, context_->machine(), placement_of(group), bytes, message_bytes)};
}

// Of one operation as it likes it best; of several so that one can begin while another is not done.
Pipeline::Cut Pipeline::chosen_cut(const std::vector<Step>& steps) const {
  Cut cut{options_.strands, options_.segment_bytes};
  const auto communications =
      std::ranges::count_if(steps, [](const Step& step) { return !std::holds_alternative<Compute>(step); });
  const auto complete = [&](const auto& choice) { cut = {choice.strands, choice.segment_bytes}; };
  if (communications == 1) {
    for (const Step& step : steps) {
      std::visit(Overloaded{
                     [&](const Reduce& s) { complete(choice_for<model::ReduceAlgorithm>(s.group, cut)); },
                     [&](const Broadcast& s) { complete(choice_for<model::BroadcastAlgorithm>(s.group, cut)); },
                     [&](const Allreduce& s) { complete(choice_for<model::AllreduceAlgorithm>(s.group, cut)); },
                     [](const Compute&) {},
                 },
                 step);
    }
    return cut;
  }
  const auto piece_of_all = [&](Index message_bytes) {
    model::Piece all{message_bytes, {}};
    for (const Step& step : steps) {
      const model::Piece piece = std::visit(
          Overloaded{
              [&](const Reduce& s) { return piece_of<model::ReduceAlgorithm>(s.group, message_bytes); },
              [&](const Broadcast& s) { return piece_of<model::BroadcastAlgorithm>(s.group, message_bytes); },
              [&](const Allreduce& s) { return piece_of<model::AllreduceAlgorithm>(s.group, message_bytes); },
              [&](const Compute&) { return model::Piece{message_bytes, {}}; },
          },
          step);
      // While one operation sends, another may receive: the busiest one of them is what pieces wait for.
      all.bytes = std::max(all.bytes, piece.bytes);
      all.cost.first_seconds += piece.cost.first_seconds;
      all.cost.network_seconds = std::max(all.cost.network_seconds, piece.cost.network_seconds);
      all.cost.core_seconds += piece.cost.core_seconds;
    }
    return all;
  };
  if (!cut.strands) cut.strands = 1;  // the pieces overlap as strands would
  if (!cut.message_bytes) {
    const auto& link = context_->topology().nodes() == 1 ? context_->machine().node : context_->machine().network;
    cut.message_bytes =
        model::choose_segment(link.streams.front().both_ways, elements_ * element_bytes_ / *cut.strands, piece_of_all);
  }
  return cut;
}

Index Pipeline::segment_bytes(const std::vector<Step>& steps, const Cut& cut) const {
  int messages = 1;
  const auto consider = [&]<model::Algorithm A>(const Group& group, A) {
    messages = std::max(messages, messages_of_segment(choice_for<A>(group, cut).algorithm, group));
  };
  for (const Step& step : steps) {
    std::visit(Overloaded{
                   [&](const Reduce& s) { consider(s.group, model::ReduceAlgorithm{}); },
                   [&](const Broadcast& s) { consider(s.group, model::BroadcastAlgorithm{}); },
                   [&](const Allreduce& s) { consider(s.group, model::AllreduceAlgorithm{}); },
                   [](const Compute&) {},
               },
               step);
  }
  return *cut.message_bytes * messages;
}

Stream Pipeline::append(Graph& graph, const Step& step, const Stream& stream, Place data, const Cut& cut) const {
  return std::visit(Overloaded{
                        [&](const Reduce& s) {
                          return reduce_by(choice_for<model::ReduceAlgorithm>(s.group, cut).algorithm, graph, s.group,
                                           s.root, stream, data, data, s.combine);
                        },
                        [&](const Broadcast& s) {
                          return broadcast_by(choice_for<model::BroadcastAlgorithm>(s.group, cut).algorithm, graph,
                                              s.group, s.root, stream, data);
                        },
                        [&](const Allreduce& s) {
                          return allreduce_by(choice_for<model::AllreduceAlgorithm>(s.group, cut).algorithm, graph,
                                              *context_, s.group, stream, data, data, s.combine);
                        },
                        [&](const Compute& s) { return computed(graph, s.f, stream, data); },
                    },
                    step);
}

Stream Pipeline::append_mpi(Graph& graph, const Step& step, const Stream& stream, Place data) const {
  const int count = options_.strands.value_or(1);
  const auto strands = [&](const Group& group) { return MpiStrands(*context_, group, count); };
  return std::visit(Overloaded{
                        [&](const Reduce& s) {
                          return strands(s.group).reduce(graph, s.root, stream, data, data, *s.combine.of_mpi());
                        },
                        [&](const Broadcast& s) { return strands(s.group).broadcast(graph, s.root, stream, data); },
                        [&](const Allreduce& s) {
                          return strands(s.group).allreduce(graph, stream, data, data, *s.combine.of_mpi());
                        },
                        [&](const Compute& s) { return computed(graph, s.f, stream, data); },
                    },
                    step);
}

schedule::Schedule Pipeline::schedule(std::string label, schedule::Windows windows) const {
  const bool by_mpi = options_.backend == Backend::mpi;
  const std::vector<Step> steps = by_mpi ? steps_ : merged();
  const Cut cut = by_mpi ? Cut{options_.strands.value_or(1), longest_mpi_segment} : chosen_cut(steps);
  const Index bytes = by_mpi ? longest_mpi_segment : segment_bytes(steps, cut);
  Stream stream = Stream::cut(elements_, element_bytes_, *cut.strands, std::max<Index>(bytes / element_bytes_, 1));
  Graph graph(*cut.strands);
  const Place data{graph.output(elements_ * element_bytes_)};
  for (const Step& step : steps)
    stream = by_mpi ? append_mpi(graph, step, stream, data) : append(graph, step, stream, data, cut);
  return {*context_, std::move(graph), std::move(label), windows};
}

}  // namespace plait::collective
