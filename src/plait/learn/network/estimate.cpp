#include "plait/learn/network/estimate.hpp"

#include <algorithm>
#include <vector>

#include "plait/base/rounding.hpp"
#include "plait/collective/algorithm/algorithms.hpp"

namespace plait::learn {

namespace {

/// Of the points that a rank gets, those that it has not made.
Index points_received(const Spread& from, const Spread& to, int rank) {
  const layout::Box target = to.boxes.box(rank).grown({0, to.ghosts, 0}).intersection(from.boxes.whole());
  return target.points() - target.intersection(from.boxes.box(rank)).points();
}

/// Calls f(words of this rank, whether a collective of all ranks moves them) for all that moves in a step.
template <class F>
void for_each_move(const Sharing& sharing, int rank, std::span<const Index> splits, const F& f) {
  for (Index l = 0; l <= sharing.count(); ++l) {
    const Spread from = sharing.made(l - 1, splits), to = sharing.taken(l, splits);
    const Index own = from.boxes.box(rank).points();
    if (sharing.moves(l)) f(to.is_whole ? from.boxes.whole().points() - own : points_received(from, to, rank));
    if (l > 0 && sharing.moves_back(l)) f(to.is_whole ? (sharing.ranks() - 1) * own : points_received(to, from, rank));
    if (l > 1 && sharing.ghosts(l - 1) > 0) {
      Spread with_ghosts = from;
      with_ghosts.ghosts = sharing.ghosts(l - 1);
      f(points_received(from, with_ghosts, rank));
    }
  }
}

}  // namespace

Index words_received(const Sharing& sharing, int rank, std::span<const Index> splits) {
  Index words = 0;
  for_each_move(sharing, rank, splits, [&](Index own) { words += own; });
  return words;
}

Estimate estimate(mpi::Context& context, const Sharing& sharing, Index batch, Index grain) {
  constexpr double operations_a_second = 2e10;  // of a core, in products of doubles
  const bool is_pipeline = sharing.parallelism() == Parallelism::pipeline;
  const model::Machine& machine = context.machine();
  const model::Link& link = context.placement().nodes() > 1 ? machine.network : machine.node;
  const auto& stream = link.streams_of(context.placement().ranks_per_node).both_ways;
  const auto message = [&](Index words) {
    return words == 0 ? 0.0 : link.latency_seconds + stream.seconds(words * Index{sizeof(double)});
  };
  std::vector<Index> splits;
  for (int rank = 0; rank <= sharing.ranks(); ++rank) splits.push_back(batch * rank / sharing.ranks());
  // Parts of a batch follow each other through the stages of a pipeline.
  const Index parts = is_pipeline ? quotient_up(batch, grain) : 1;
  int stages = 0;
  Estimate its{.parallelism = sharing.parallelism()};
  for (int rank = 0; rank < sharing.ranks(); ++rank) {
    double operations = 0, communicating = 0;
    for (Index l = 0; l < sharing.count(); ++l) {
      const Layer ahead = sharing.part(l, rank), back = sharing.part_back(l, rank);
      const auto samples =
          static_cast<double>(sharing.samples(l, rank, splits[at(rank + 1)] - splits[at(rank)], batch));
      operations += 2 * samples * static_cast<double>(ahead.weights()) *
                    static_cast<double>(2 * ahead.places() + (l > 0 ? back.places() : 0));
    }
    stages += operations > 0 ? 1 : 0;
    for_each_move(sharing, rank, splits, [&](Index words) {
      communicating += static_cast<double>(parts) * message(quotient_up(words, parts));
    });
    its.computing_seconds = std::max(its.computing_seconds, operations / operations_a_second);
    its.communicating_seconds = std::max(its.communicating_seconds, communicating);
  }
  if (is_pipeline) {
    const double waiting = static_cast<double>(stages - 1) / static_cast<double>(parts);
    its.computing_seconds *= 1 + waiting;
    its.communicating_seconds *= 1 + waiting;
  }
  for (const Layer& layer : sharing.layers()) {
    if (!sharing.adds_up() || layer.parameters() == 0 || sharing.ranks() == 1) continue;
    const Index bytes = layer.parameters() * Index{sizeof(double)};
    its.communicating_seconds +=
        collective::choose<model::AllreduceAlgorithm>(context, context.placement(), bytes).seconds;
  }
  return its;
}

}  // namespace plait::learn
