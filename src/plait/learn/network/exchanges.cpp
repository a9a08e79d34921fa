#include "plait/learn/network/exchanges.hpp"

#include <algorithm>
#include <utility>

#include "plait/mpi/agreed.hpp"

namespace plait::learn {

namespace {

/// Calls f(place among the boxes one behind the other, place in the whole, length) for what lies side by side in both.
template <class F>
void for_each_run(const layout::BoxPartition& boxes, const F& f) {
  const layout::Box whole = boxes.whole();
  Index place = 0;
  for (int rank = 0; rank < boxes.ranks(); ++rank) {
    const layout::Box box = boxes.box(rank);
    if (box.is_empty()) continue;
    for (Index s = box.low[0]; s < box.high[0]; ++s) {
      for (Index y = box.low[1]; y < box.high[1]; ++y, place += box.extent(2)) {
        f(place, whole.offset_of({s, y, box.low[2]}), box.extent(2));
      }
    }
  }
}

}  // namespace

Exchanges::Exchanges(mpi::Context& context, const Sharing& sharing, Pass& pass,
                     const std::vector<std::vector<Index>>& batches, Index grain)
    : context_(context), sharing_(sharing), pass_(pass) {
  const bool is_pipeline = sharing.parallelism() == Parallelism::pipeline;
  Index most = 0, all = 0;
  for (const auto& splits : batches) {
    const Spread loss = sharing.taken(sharing.count(), splits);
    for (Index l = 0; l < sharing.count(); ++l) {
      if (sharing.taken(l, splits).is_whole) all = std::max(all, splits.back() * sharing.level(l).size());
    }
    most = std::max(most, loss.boxes.box(context.rank()).extent(0));
  }
  mpi::agreed(context, [&] {
    all_.resize(all);
    targets_.resize(most);
  });
  for (const auto& splits : batches) {
    const Index batch = splits.back();
    const auto of_targets = [](const Spread& spread) {
      return Spread{layout::BoxPartition({spread.boxes.splits()[0], {0, 1}, {0, 1}}, spread.boxes.ranks())};
    };
    for (const Sharing::Move& each : sharing.all_moves(splits)) {
      if (!is_pipeline || each.l == 0) plan(each);
    }
    if (!is_pipeline) continue;
    plan({What::targets, 0, of_targets(sharing.made(-1, splits)), of_targets(sharing.taken(sharing.count(), splits))});
    for (const Index samples : {std::min(grain, batch), batch % grain}) {
      if (samples == 0) continue;
      std::vector<Index> on_rank_0(splits.size(), samples);
      on_rank_0[0] = 0;
      for (const Sharing::Move& each : sharing.all_moves(on_rank_0)) {
        if (each.l > 0) plan(each);
      }
    }
  }
}

void Exchanges::plan(const Sharing::Move& move) {
  const Index l = move.l;
  const Spread &from = move.from, &to = move.to;
  const auto found = transfers_.try_emplace({move.what, l, from.boxes.whole().extent(0)});
  if (!found.second) return;  // of a batch of as many samples
  Transfer& its = found.first->second;
  its.receives = !to.boxes.box(context_.rank()).is_empty();
  if (!from.is_whole && !to.is_whole) {
    const layout::Point layers{0, to.ghosts, 0};
    its.exchange = std::make_unique<halo::Exchange>(
        context_,
        halo::Filling{
            .from = from.boxes, .to = to.boxes, .to_layers = layers, .width = layers, .reach = halo::Reach::faces},
        Index{sizeof(double)}, 1, move.what == What::slopes || move.what == What::ghosts ? "slopes" : "activations");
    return;
  }
  its.boxes = from.boxes;
  mpi::agreed(context_, [&] {
    std::vector<Index> counts;
    for (int rank = 0; rank < context_.size(); ++rank) counts.push_back(its.boxes->box(rank).points());
    const std::span<double> all = std::span(all_).first(at(its.boxes->whole().points()));
    const auto own = at(counts[at(context_.rank())]);
    if (to.is_whole) {
      its.of_all = collective::plan_all_gather(context_, std::as_bytes(std::span(pass_.made(l - 1), own)),
                                               std::as_writable_bytes(all), counts, Index{sizeof(double)});
    } else {
      its.of_all = collective::plan_reduce_scatter(context_, std::as_bytes(all),
                                                   std::as_writable_bytes(std::span(pass_.slopes(l - 1), own)), counts,
                                                   {simd::ReduceOperation::sum, simd::element_of<double>()});
    }
  });
}

void Exchanges::fill(Transfer& its, const double* from, double* to) {
  if (its.is_under_way) its.exchange->finish();
  const halo::Field field{from, to};
  its.exchange->begin(std::span(&field, 1));
  its.is_under_way = !its.receives;
  if (its.receives) its.exchange->finish();
}

void Exchanges::begin(Index batch, std::span<const double> targets) {
  const auto elsewhere = transfers_.find({What::targets, 0, batch});
  if (elsewhere == transfers_.end()) {
    std::ranges::copy(targets, targets_.begin());
  } else {
    fill(elsewhere->second, targets.data(), targets_.data());
  }
  move(What::numbers, 0, {0, batch});
}

void Exchanges::move(What what, Index l, Pass::Range samples) {
  const auto found = transfers_.find({what, l, samples.count});
  if (found == transfers_.end()) return;
  Transfer& its = found->second;
  const Index first = samples.first * sharing_.level(l).size();  // above 0 in a pipeline only, whose parts are whole
  if (what == What::ghosts) return fill(its, pass_.slopes(l), pass_.ghosted(l));
  if (what == What::numbers && its.exchange) return fill(its, pass_.made(l - 1) + first, pass_.taken(l) + first);
  if (its.exchange) return fill(its, pass_.taken_slopes(l) + first, pass_.slopes(l - 1) + first);
  if (what == What::slopes) {
    for_each_run(*its.boxes, [&](Index to, Index from, Index length) {
      std::copy_n(pass_.taken_slopes(l) + from, length, all_.data() + to);
    });
  }
  its.of_all->start();
  its.of_all->wait();
  if (what == What::numbers) {
    for_each_run(*its.boxes, [&](Index from, Index to, Index length) {
      std::copy_n(all_.data() + from, length, pass_.taken(l) + to);
    });
  }
}

void Exchanges::settle() {
  for (auto& [key, its] : transfers_) {
    if (std::exchange(its.is_under_way, false)) its.exchange->finish();
  }
}

void Exchanges::progress() {
  for (auto& [key, its] : transfers_) {
    if (!its.is_under_way) continue;
    its.exchange->progress();  // and with it all others
    return;
  }
}

}  // namespace plait::learn
