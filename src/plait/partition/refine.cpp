#include "plait/partition/refine.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <queue>
#include <utility>

#include "plait/base/contract.hpp"
#include "plait/base/parallel.hpp"
#include "plait/base/random.hpp"

namespace plait::partition {

using graph::GraphView;
using graph::Vertex;

namespace {

constexpr std::size_t fruitless_together = 1000;
constexpr double least_gain = 1.5e-3;  // of the cost: a round that gains less is the last one of its kind
constexpr double most_loss = 1. / 3;   // by the first move of a search from one vertex, of what ties it to all parts
constexpr Index no_bid = std::numeric_limits<Index>::min();

}  // namespace

Index cut_of(const GraphView& graph, std::span<const int> part) {
  std::atomic<Index> all = 0;
  in_shares(graph.vertices(), threads_of(graph.vertices()), [&](int, Index begin, Index end) {
    Index sum = 0;
    for (Index v = begin; v < end; ++v) {
      const int own = part[at(v)];
      graph.for_each_neighbour(v, [&](Vertex u, Index weight) { sum += u < v && part[at(u)] != own ? weight : 0; });
    }
    all += sum;
  });
  return all;
}

Refinement::Refinement(const GraphView& graph, const Bounds& bounds, std::span<int> part, const Homes& homes)
    : graph_(graph),
      bounds_(bounds),
      part_(part),
      homes_(homes),
      weight_(at(bounds.parts())),
      vertices_(at(bounds.parts())),
      first_tie_(part.size()),
      strength_(at(bounds.parts())),
      moved_in_(part.size()),
      near_in_(part.size()) {
  for (std::size_t v = 0; v < part_.size(); ++v) {
    weight_[at(part_[v])] += graph_.weight(static_cast<Index>(v));
    ++vertices_[at(part_[v])];
  }
}

Index Refinement::excess() const {
  Index sum = 0;
  for (std::size_t p = 0; p < weight_.size(); ++p) {
    sum += std::max(Index{0}, weight_[p] - bounds_.most_weight[static_cast<Index>(p)]);
    sum += std::max(Index{0}, bounds_.least_vertices[static_cast<Index>(p)] - vertices_[p]);
  }
  return sum;
}

bool Refinement::is_at_border(Vertex v) const {
  const int own = part_[at(v)];
  if (!homes_.part.empty() && homes_.part[at(v)] != own && homes_.pull[at(v)] > 0) return true;
  for (Index e = graph_.offsets[at(v)]; e < graph_.offsets[at(v) + 1]; ++e) {
    if (part_[at(graph_.neighbours[at(e)])] != own) return true;
  }
  return false;
}

std::span<const Refinement::Tie> Refinement::ties_of(Vertex v) {
  Index& first = first_tie_[at(v)];
  if (first == 0) {
    ties_.push_back({0, no_bid});
    first = static_cast<Index>(ties_.size());
    const auto add = [&](int part, Index strength) {
      if (strength_[at(part)] == 0) ties_.push_back({part, 0});
      strength_[at(part)] += strength;
    };
    const Index factor = homes_.edge_factor;
    graph_.for_each_neighbour(v, [&](Vertex u, Index weight) { add(part_[at(u)], factor * weight); });
    const bool is_pulled = !homes_.part.empty() && homes_.pull[at(v)] > 0;
    if (is_pulled) add(homes_.part[at(v)], homes_.pull[at(v)]);
    ties_[at(first - 1)].part = static_cast<int>(static_cast<Index>(ties_.size()) - first);
    for (std::size_t i = at(first); i < ties_.size(); ++i) {
      ties_[i].strength = std::exchange(strength_[at(ties_[i].part)], 0);
    }
    // Room for all that there may be.
    const Index degree = graph_.offsets[at(v) + 1] - graph_.offsets[at(v)] + (is_pulled ? 1 : 0);
    ties_.resize(at(first + std::min<Index>(degree, bounds_.parts())));
  }
  return {ties_.data() + first, at(ties_[at(first - 1)].part)};
}

void Refinement::shift_tie(Vertex v, int from, int to, Index strength) {
  const Index first = first_tie_[at(v)];
  if (first == 0) return;
  int& count = ties_[at(first - 1)].part;
  Tie* const ties = ties_.data() + first;
  Tie* old = nullptr;
  Tie* known = nullptr;
  for (Tie* tie = ties; tie != ties + count; ++tie) {
    if (tie->part == from) old = tie;
    if (tie->part == to) known = tie;
  }
  old->strength -= strength;
  if (known != nullptr) {
    known->strength += strength;
    if (old->strength == 0) *old = ties[--count];
  } else if (old->strength == 0) {
    *old = {to, strength};
  } else {
    ties[count++] = {to, strength};
  }
}

Refinement::Move Refinement::best_move(Vertex v) {
  const int own = part_[at(v)];
  if (vertices_[at(own)] <= bounds_.least_vertices[own]) return {};
  const auto ties = ties_of(v);
  const Index weight = graph_.weight(v);
  Index inside = 0;
  Move best;
  for (const auto& [part, strength] : ties) {
    if (part == own) {
      inside = strength;
      continue;
    }
    const bool better =
        best.to < 0 || strength > best.gain || (strength == best.gain && weight_[at(part)] < weight_[at(best.to)]);
    if (better && has_room(part, weight)) best = {strength, part};
  }
  if (best.to >= 0) best.gain -= inside;
  return best;
}

void Refinement::move(Vertex v, int to) {
  const int from = std::exchange(part_[at(v)], to);
  const Index weight = graph_.weight(v);
  weight_[at(from)] -= weight;
  weight_[at(to)] += weight;
  --vertices_[at(from)];
  ++vertices_[at(to)];
  graph_.for_each_neighbour(v, [&](Vertex u, Index edge) { shift_tie(u, from, to, homes_.edge_factor * edge); });
}

/// Gains that fall stay in the heap, and are found out when it is their turn.
void Refinement::push(Vertex v) {
  const Move best = best_move(v);
  if (best.to < 0 || best.gain <= bid(v)) return;
  bid(v) = best.gain;
  heap_.push_back({best.gain, order_++, v});
  std::push_heap(heap_.begin(), heap_.end());
}

Index Refinement::search(std::span<const Vertex> seeds, std::size_t fruitless) {
  done_.clear();
  for (const Vertex seed : seeds) push(seed);
  Index gained = 0;
  Index most = 0;
  std::size_t keep = 0;
  Index spread = 0;  // of the two parts of each move, squared: among equal costs the more even ones are kept
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end());
    const Entry entry = heap_.back();
    heap_.pop_back();
    const Vertex v = entry.v;
    if (moved_in_[at(v)] == round_ || entry.gain != bid(v)) continue;
    bid(v) = no_bid;
    const Move best = best_move(v);
    if (best.to < 0) continue;
    if (best.gain < entry.gain) {
      push(v);
      continue;
    }
    const int from = part_[at(v)];
    const bool evens = weight_[at(from)] - graph_.weight(v) > weight_[at(best.to)];
    move(v, best.to);
    moved_in_[at(v)] = round_;
    done_.push_back({v, from});
    gained += best.gain;
    spread += evens ? 1 : -1;
    if (gained > most || (gained == most && spread > 0)) {
      most = gained;
      keep = done_.size();
      spread = 0;
    } else if (done_.size() - keep > fruitless) {
      break;
    }
    graph_.for_each_neighbour(v, [&](Vertex u, Index) {
      if (std::exchange(near_in_[at(u)], round_) != round_) near_.push_back(u);
      // One in the part that v moved to is held there by more than before.
      if (moved_in_[at(u)] != round_ && part_[at(u)] != best.to) push(u);
    });
  }
  for (const Entry& entry : heap_) bid(entry.v) = no_bid;
  heap_.clear();
  while (done_.size() > keep) {
    move(done_.back().v, done_.back().from);
    done_.pop_back();
  }
  return most;
}

bool Refinement::is_promising(Vertex v) {
  const Move best = best_move(v);
  if (best.to < 0) return false;
  double all = 0;
  for (const Tie& tie : ties_of(v)) all += static_cast<double>(tie.strength);
  return static_cast<double>(-best.gain) <= most_loss * all;
}

Index Refinement::refine(const Effort& effort, std::uint64_t seed) {
  std::vector<Vertex> starts;
  double cost = 0;
  std::vector<std::vector<Vertex>> found(at(threads_of(graph_.vertices())));
  in_shares(graph_.vertices(), static_cast<int>(found.size()), [&](int thread, Index begin, Index end) {
    for (auto v = static_cast<Vertex>(begin); v < end; ++v) {
      if (is_at_border(v)) found[at(thread)].push_back(v);
    }
  });
  for (const auto& some : found) starts.insert(starts.end(), some.begin(), some.end());
  for (const Vertex v : starts) {
    for (const auto& [part, strength] : ties_of(v))
      cost += part == part_[at(v)] ? 0 : static_cast<double>(strength) / 2;
  }
  Index total = 0;
  for (int round = 0; round < effort.together + effort.alone && !starts.empty(); ++round) {
    PLAIT_ASSERT(round_ < std::numeric_limits<std::uint16_t>::max(), "rounds can be counted");
    ++round_;
    order_ = 0;
    near_.clear();
    for (const Vertex v : starts) {
      near_in_[at(v)] = round_;
      near_.push_back(v);
    }
    for (std::size_t i = starts.size(); i > 1; --i) {
      std::swap(starts[i - 1], starts[random_bits(seed + static_cast<std::uint64_t>(round), i) % i]);
    }
    Index gained = 0;
    if (round < effort.together) {
      gained = search(starts, std::max(fruitless_together, starts.size() / 10));
    } else {
      for (const Vertex& v : starts) {
        if (moved_in_[at(v)] != round_ && is_promising(v)) gained += search({&v, 1}, effort.fruitless);
      }
    }
    total += gained;
    starts.clear();
    std::ranges::copy_if(near_, std::back_inserter(starts), [&](Vertex v) { return is_at_border(v); });
    if (static_cast<double>(gained) > least_gain * cost) continue;
    if (round >= effort.together) break;
    round = effort.together - 1;
  }
  return total;
}

int Refinement::lightest_with_room(Index weight, int but) const {
  int best = -1;
  for (int p = 0; p < bounds_.parts(); ++p) {
    if (p == but || !has_room(p, weight)) continue;
    if (best < 0 || weight_[at(p)] < weight_[at(best)]) best = p;
  }
  return best;
}

bool Refinement::balance(std::uint64_t seed) {
  if (excess() == 0) return true;
  const auto n = static_cast<Vertex>(part_.size());
  // Parts with too few vertices take some of parts that can spare them.
  for (int p = 0; p < bounds_.parts(); ++p) {
    for (Vertex v = 0; v < n && vertices_[at(p)] < bounds_.least_vertices[p]; ++v) {
      const int from = part_[at(v)];
      if (from != p && vertices_[at(from)] > bounds_.least_vertices[from] && has_room(p, graph_.weight(v))) move(v, p);
    }
  }
  // Vertices of parts that are too heavy, those first that cost least for their weight.
  struct Offer {
    double cost;
    std::uint64_t order;
    Vertex v;
    bool operator<(const Offer& other) const { return cost != other.cost ? cost > other.cost : order > other.order; }
  };
  std::priority_queue<Offer> offers;
  const auto is_too_heavy = [&](int part) { return weight_[at(part)] > bounds_.most_weight[part]; };
  const auto target = [&](Vertex v) {
    const Move best = best_move(v);
    if (best.to >= 0) return best;
    if (vertices_[at(part_[at(v)])] <= bounds_.least_vertices[part_[at(v)]]) return best;
    const int other = lightest_with_room(graph_.weight(v), part_[at(v)]);
    if (other < 0) return Move{};
    Index inside = 0;
    graph_.for_each_neighbour(v, [&](Vertex u, Index weight) { inside += part_[at(u)] == part_[at(v)] ? weight : 0; });
    return Move{-inside * homes_.edge_factor, other};
  };
  const auto cost_of = [&](Vertex v, const Move& best) {
    const double cost = -static_cast<double>(best.gain);
    const auto weight = static_cast<double>(graph_.weight(v));
    return cost > 0 ? cost / weight : cost * weight;
  };
  const auto offer = [&](Vertex v) {
    if (graph_.weight(v) == 0) return;
    const Move best = target(v);
    if (best.to >= 0) offers.push({cost_of(v, best), random_bits(seed, static_cast<std::uint64_t>(v)), v});
  };
  std::vector<bool> was_too_heavy(weight_.size());
  for (int p = 0; p < bounds_.parts(); ++p) was_too_heavy[at(p)] = is_too_heavy(p);
  for (Vertex v = 0; v < n; ++v) {
    if (was_too_heavy[at(part_[at(v)])]) offer(v);
  }
  while (!offers.empty()) {
    const Offer next = offers.top();
    offers.pop();
    const int from = part_[at(next.v)];
    if (!is_too_heavy(from)) continue;
    const Move best = target(next.v);
    if (best.to < 0) continue;
    if (const double cost = cost_of(next.v, best); cost > next.cost) {  // it costs more by now
      offers.push({cost, next.order, next.v});
      continue;
    }
    move(next.v, best.to);
    graph_.for_each_neighbour(next.v, [&](Vertex u, Index) {
      if (is_too_heavy(part_[at(u)])) offer(u);
    });
  }
  return excess() == 0;
}

}  // namespace plait::partition
