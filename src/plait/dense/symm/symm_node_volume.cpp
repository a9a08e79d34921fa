#include "plait/dense/symm/symm_node_volume.hpp"

#include <algorithm>
#include <cstddef>
#include <set>

#include "plait/base/contract.hpp"
#include "plait/base/rounding.hpp"
#include "plait/layout/process_grid.hpp"

namespace plait::dense {

namespace {

/// Blocks that pass the links of nodes, by the literature's rules.
class EstimatedBlocks {
 public:
  EstimatedBlocks(int edge, int ranks_per_node)
      : edge_(edge),
        ranks_per_node_(ranks_per_node),
        of_node_(static_cast<std::size_t>(quotient_up(edge * edge * edge, ranks_per_node))) {}

  [[nodiscard]] double of_busiest() {
    for (int one = 0; one < edge_; ++one) {
      for (int other = 0; other < edge_; ++other) {
        collective(1, [&](int k) { return node(one, other, k); });  // D to the layers
        collective(2, [&](int i) { return node(i, one, other); });  // D and D² to the rows
        collective(2, [&](int j) { return node(one, j, other); });  // sums of D² and D³
        home(node(one, other, other), node(one, other, 0));
      }
    }
    return *std::ranges::max_element(of_node_);
  }

 private:
  [[nodiscard]] std::size_t node(int i, int j, int k) const {
    return static_cast<std::size_t>(layout::ProcessGrid{edge_, edge_, edge_}.rank(j, k, i) / ranks_per_node_);
  }
  template <class NodeOf>
  void collective(int times, NodeOf node_of) {
    std::set<std::size_t> nodes;
    for (int place = 0; place < edge_; ++place) nodes.insert(node_of(place));
    const auto count = static_cast<double>(nodes.size());
    for (const std::size_t each : nodes) of_node_[each] += times * 2 * (count - 1) / count;
  }
  void home(std::size_t from, std::size_t to) {
    constexpr int products = 2;
    if (from == to) return;
    of_node_[from] += products;
    of_node_[to] += products;
  }

  int edge_;
  int ranks_per_node_;
  std::vector<double> of_node_;
};

}  // namespace

Index NodeVolume::busiest_bytes() const noexcept { return std::max(most_sent.bytes, most_received.bytes); }

NodeVolume node_volume(const model::Placement& placement, const std::vector<SymmTransfer>& transfers) {
  std::vector<Traffic> sent(static_cast<std::size_t>(placement.nodes())), received = sent;
  NodeVolume volume;
  for (const SymmTransfer& transfer : transfers) {
    const auto from = static_cast<std::size_t>(placement.node_of(transfer.from));
    const auto to = static_cast<std::size_t>(placement.node_of(transfer.to));
    if (from == to) continue;
    sent[from] += transfer.traffic;
    received[to] += transfer.traffic;
    volume.total += transfer.traffic;
  }
  volume.most_sent = *std::ranges::max_element(sent, {}, &Traffic::bytes);
  volume.most_received = *std::ranges::max_element(received, {}, &Traffic::bytes);
  return volume;
}

double estimated_node_bytes(Index n, int edge, int ranks_per_node, Index element_bytes) {
  PLAIT_ASSERT(n >= 0 && edge >= 1 && ranks_per_node >= 1, "a mesh has ranks, which are on nodes");
  const Index extent = quotient_up(n, edge);
  return EstimatedBlocks(edge, ranks_per_node).of_busiest() * static_cast<double>(extent * extent * element_bytes);
}

}  // namespace plait::dense
