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
    plan(0, splits);
    const auto of_targets = [](const Spread& spread) {
      return Spread{layout::BoxPartition({spread.boxes.splits()[0], {0, 1}, {0, 1}}, spread.boxes.ranks())};
    };
    if (is_pipeline) {
      plan({What::targets, 0, batch}, of_targets(sharing.made(-1, splits)),
           of_targets(sharing.taken(sharing.count(), splits)));
    }
    for (Index l = 1; l <= sharing.count(); ++l) {
      if (!is_pipeline) {
        plan(l, splits);
        continue;
      }
      for (const Index samples : {std::min(grain, batch), batch % grain}) {
        if (samples > 0) plan(l, std::vector<Index>(splits.size(), samples));
      }
    }
  }
}

void Exchanges::plan(Index l, std::span<const Index> splits) {
  const Index batch = splits.back();
  const Spread from = sharing_.made(l - 1, splits), to = sharing_.taken(l, splits);
  if (sharing_.moves(l)) plan({What::numbers, l, batch}, from, to);
  if (l > 0 && sharing_.moves_back(l)) plan({What::slopes, l, batch}, to, from);
  if (l > 1 && sharing_.ghosts(l - 1) > 0) {
    Spread with_ghosts = from;
    with_ghosts.ghosts = sharing_.ghosts(l - 1);
    plan({What::ghosts, l - 1, batch}, from, with_ghosts);
  }
}

void Exchanges::plan(const Key& key, const Spread& from, const Spread& to) {
  if (transfers_.contains(key)) return;  // of a batch of as many samples
  const What what = std::get<0>(key);
  const Index l = std::get<1>(key);
  Transfer& its = transfers_[key];
  its.receives = !to.boxes.box(context_.rank()).is_empty();
  if (!from.is_whole && !to.is_whole) {
    const layout::Point layers{0, to.ghosts, 0};
    its.exchange = std::make_unique<halo::Exchange>(
        context_,
        halo::Filling{
            .from = from.boxes, .to = to.boxes, .to_layers = layers, .width = layers, .reach = halo::Reach::faces},
        Index{sizeof(double)}, 1, what == What::slopes || what == What::ghosts ? "slopes" : "activations");
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

Exchanges::Transfer* Exchanges::find(What what, Index l, Index samples) {
  const auto found = transfers_.find({what, l, samples});
  return found == transfers_.end() ? nullptr : &found->second;
}

void Exchanges::move(Transfer& its, const double* from, double* to) {
  if (its.is_under_way) its.exchange->finish();
  const halo::Field field{from, to};
  its.exchange->begin(std::span(&field, 1));
  its.is_under_way = !its.receives;
  if (its.receives) its.exchange->finish();
}

void Exchanges::begin(Index batch, std::span<const double> targets) {
  if (Transfer* its = find(What::targets, 0, batch)) {
    move(*its, targets.data(), targets_.data());
  } else {
    std::ranges::copy(targets, targets_.begin());
  }
  there(0, {0, batch});
}

void Exchanges::there(Index l, Pass::Range samples) {
  Transfer* const its = find(What::numbers, l, samples.count);
  if (its == nullptr) return;
  if (its->exchange) {
    const Index size = sharing_.level(l).size();  // a pipeline's parts are whole
    return move(*its, pass_.made(l - 1) + samples.first * size, pass_.taken(l) + samples.first * size);
  }
  its->of_all->start();
  its->of_all->wait();
  for_each_run(*its->boxes, [&](Index from, Index to, Index length) {
    std::copy_n(all_.data() + from, length, pass_.taken(l) + to);
  });
}

void Exchanges::back(Index l, Pass::Range samples) {
  Transfer* const its = find(What::slopes, l, samples.count);
  if (its == nullptr) return;
  if (its->exchange) {
    const Index size = sharing_.level(l).size();
    return move(*its, pass_.taken_slopes(l) + samples.first * size, pass_.slopes(l - 1) + samples.first * size);
  }
  for_each_run(*its->boxes, [&](Index to, Index from, Index length) {
    std::copy_n(pass_.taken_slopes(l) + from, length, all_.data() + to);
  });
  its->of_all->start();
  its->of_all->wait();
}

void Exchanges::fill_ghosts(Index l, Pass::Range samples) {
  if (Transfer* its = find(What::ghosts, l, samples.count)) move(*its, pass_.slopes(l), pass_.ghosted(l));
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
