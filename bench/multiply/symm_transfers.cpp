#include "bench/multiply/symm_transfers.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <set>
#include <utility>

#include "plait/base/contract.hpp"
#include "plait/base/rounding.hpp"
#include "plait/collective/stream.hpp"
#include "plait/dense/symm/pairing.hpp"
#include "plait/dense/symm/panels.hpp"
#include "plait/dense/symm/plan.hpp"
#include "plait/layout/process_grid.hpp"

namespace plait::bench {

namespace {

// How many elements in how many messages.
struct Amount {
  Index elements = 0;
  Index messages = 0;
  Amount& operator+=(const Amount& other) {
    elements += other.elements, messages += other.messages;
    return *this;
  }
};

class Transfers {
 public:
  Transfers(const symm::Grid& mesh, const symm::Options& options, Index element_bytes)
      : mesh_(mesh), options_(options), element_bytes_(element_bytes) {
    by_mpi_ = options.algorithm == symm::Algorithm::original || options.algorithm == symm::Algorithm::baseline ||
              (options.algorithm != symm::Algorithm::mirrored && options.backend == symm::Backend::mpi);
  }

  [[nodiscard]] std::vector<SymmTransfer> square() {
    append(false);
    return std::move(all_);
  }
  [[nodiscard]] std::vector<SymmTransfer> square_cube() {
    append(true);
    return std::move(all_);
  }

 private:
  void append(bool cubes) {
    switch (*options_.algorithm) {
      case symm::Algorithm::original: original(cubes); break;
      case symm::Algorithm::baseline:
      case symm::Algorithm::overlapped: overlapped(cubes); break;
      case symm::Algorithm::cannon: cannon(cubes); break;
      case symm::Algorithm::mirrored: mirrored(cubes); break;
    }
  }

  void add(int from, int to, Amount amount) {
    if (from != to && amount.elements > 0)
      all_.push_back({from, to, {amount.messages, amount.elements * element_bytes_}});
  }
  [[nodiscard]] Index segment() const { return dense::symm::segment_elements(mesh_, options_, element_bytes_); }
  [[nodiscard]] collective::Stream cut(Index elements) const {
    const Index most = by_mpi_ ? std::numeric_limits<Index>::max() : segment();
    return collective::Stream::cut(elements, element_bytes_, by_mpi_ ? 1 : options_.strands.value_or(1), most);
  }
  [[nodiscard]] Amount block(int i, int j) const {
    const Index elements = mesh_.elements(i, j);
    return {elements, std::ssize(cut(elements).segments())};
  }

  // From the root on, or to it the other way round.
  void broadcast(const std::vector<int>& ranks, int root, Amount amount) {
    const auto size = static_cast<int>(ranks.size());
    for (int place = 0; place + 1 < size; ++place) add(at(ranks, root + place), at(ranks, root + place + 1), amount);
  }
  void reduce(const std::vector<int>& ranks, int root, Amount amount) {
    const auto size = static_cast<int>(ranks.size());
    for (int place = 0; place + 1 < size; ++place) add(at(ranks, root + place + 1), at(ranks, root + place), amount);
  }
  static int at(const std::vector<int>& ranks, int index) {
    return ranks[static_cast<std::size_t>(index) % ranks.size()];
  }

  template <class F>
  void for_each_pair(F f) const {
    for (int first = 0; first < mesh_.edge(); ++first)
      for (int second = 0; second < mesh_.edge(); ++second) f(first, second);
  }

  void broadcast_operands() {
    for_each_pair([&](int i, int j) { broadcast(mesh_.ranks_of_layers(i, j), 0, block(i, j)); });
    for_each_pair([&](int j, int k) { broadcast(mesh_.ranks_of_column(j, k), k, block(k, j)); });
  }
  void reduce_cube() {
    for_each_pair([&](int i, int k) {
      reduce(mesh_.ranks_of_row(i, k), k, block(i, k));
      add(mesh_.rank(i, k, k), mesh_.rank(i, k, 0), block(i, k));
    });
  }

  void original(bool cubes) {
    broadcast_operands();
    reduce_cube();  // D² goes the way that D³ goes
    if (!cubes) return;
    for_each_pair([&](int i, int k) { add(mesh_.rank(i, k, k), mesh_.rank(k, i, k), block(i, k)); });
    for_each_pair([&](int j, int k) { broadcast(mesh_.ranks_of_column(j, k), k, block(j, k)); });
    reduce_cube();
  }

  void overlapped(bool cubes) {
    broadcast_operands();
    for_each_pair([&](int i, int k) {
      reduce(mesh_.ranks_of_row(i, k), i, block(i, k));
      add(mesh_.rank(i, i, k), mesh_.rank(i, k, 0), block(i, k));
    });
    if (!cubes) return;
    for_each_pair([&](int j, int k) { broadcast(mesh_.ranks_of_column(j, k), j, block(j, k)); });
    reduce_cube();
  }

  void cannon(bool cubes) {
    for_each_pair([&](int i, int j) { broadcast(mesh_.ranks_of_layers(i, j), 0, block(i, j)); });
    product();
    if (cubes) {
      for_each_pair([&](int i, int j) { allreduce(i, j); });
      product();
    }
    for_each_pair([&](int i, int j) { reduce(mesh_.ranks_of_layers(i, j), 0, block(i, j)); });
  }
  // Block (i, l) of A is wanted at (i, j), and block (l, j) of B.
  void product() {
    const int edge = mesh_.edge();
    for (int k = 0; k < mesh_.layers; ++k) {
      const int first = edge * k / mesh_.layers, last = edge * (k + 1) / mesh_.layers;
      for (int step = first; step < last; ++step) {
        for_each_pair([&](int i, int j) {
          const int l = (i + j + step) % edge;
          const int me = mesh_.rank(i, j, k);
          add(mesh_.rank(i, step == first ? l : (j + 1) % edge, k), me, block(i, l));
          add(mesh_.rank(step == first ? l : (i + 1) % edge, j, k), me, block(l, j));
        });
      }
    }
  }
  void allreduce(int i, int j) {
    const std::vector<int> ranks = mesh_.ranks_of_layers(i, j);
    const auto size = static_cast<int>(ranks.size());
    const collective::Stream stream = cut(mesh_.elements(i, j));
    // In as many pieces as ranks: all but its own to the one before, then all but the next one's.
    for (const collective::Segment& segment : stream.segments()) {
      for (int index = 0; index < size; ++index) {
        for (int piece = 0; piece < size; ++piece) {
          const Index elements = segment.elements() / size + (piece < segment.elements() % size ? 1 : 0);
          const int times = (piece != index ? 1 : 0) + (piece != (index + size - 1) % size ? 1 : 0);
          add(at(ranks, index), at(ranks, index + size - 1), {times * elements, times});
        }
      }
    }
  }

  void mirrored(bool cubes) {
    const symm::Pairing pairing(mesh_);
    const symm::PanelCut cut(mesh_, element_bytes_, segment());
    const int edge = mesh_.edge();
    const auto amount = [](const symm::Panel& panel) {
      return Amount{panel.end() - panel.begin(), std::ssize(panel.stream.segments())};
    };
    const auto whole = [&](const symm::Panels& panels) {
      Amount sum;
      for (const symm::Panel& panel : panels) sum += amount(panel);
      return sum;
    };
    // X(j, b) from `source` to those who want a half of it.
    const auto columns = [&](int source, int j, int b) {
      for (const symm::Half half : {symm::Half::first, symm::Half::last}) {
        std::vector<int> ranks{source};
        const auto others =
            half == symm::Half::first ? pairing.ranks_of_first_columns(j, b) : pairing.ranks_of_last_columns(j, b);
        ranks.insert(ranks.end(), others.begin(), others.end());
        broadcast(ranks, 0, whole(cut.rectangle(mesh_.extent(j), cut.panels(mesh_.extent(b), half), 0)));
      }
    };
    const auto sums = [&] {
      for_each_pair([&](int i, int k) {
        const int a = pairing.row(i, k), b = pairing.column(i, k);
        const std::vector<int> ranks = pairing.ranks_of_sum(i, k);
        if (a == b) {
          reduce(ranks, a, whole(cut.triangle(mesh_.extent(a), cut.panels(mesh_.extent(a)), 0)));
          return;
        }
        const symm::Half half = i == a ? symm::Half::first : symm::Half::last;
        int last = half == symm::Half::first ? 0 : 1;
        for (const symm::Panel& panel : cut.rectangle(mesh_.extent(a), cut.panels(mesh_.extent(b), half), 0)) {
          reduce(ranks, last % edge, amount(panel));
          add(at(ranks, last), pairing.rank(b, a, b), amount(panel));
          add(at(ranks, last), pairing.rank(a, b, a), amount(panel));
          ++last;
        }
      });
    };
    for_each_pair([&](int a, int j) {
      const std::vector<int> ranks = pairing.ranks_of_row(a, j);
      broadcast(ranks, 0, whole(cut.rectangle(mesh_.extent(j), cut.panels(mesh_.extent(a)), 0)));
      columns(ranks.back(), j, a);
    });
    sums();
    if (!cubes) return;
    for_each_pair([&](int b, int j) { columns(pairing.rank(b, j, b), j, b); });
    sums();
  }

  const symm::Grid& mesh_;
  const symm::Options& options_;
  Index element_bytes_;
  bool by_mpi_ = false;
  std::vector<SymmTransfer> all_;
};

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

std::vector<SymmTransfer> symm_transfers_of_square(const symm::Grid& mesh, const symm::Options& options,
                                                   Index element_bytes) {
  return Transfers(mesh, options, element_bytes).square();
}

std::vector<SymmTransfer> symm_transfers_of_square_cube(const symm::Grid& mesh, const symm::Options& options,
                                                        Index element_bytes) {
  return Transfers(mesh, options, element_bytes).square_cube();
}

Exchanged traffic_of(int rank, const std::vector<SymmTransfer>& transfers) {
  Exchanged result;
  for (const SymmTransfer& transfer : transfers) {
    if (transfer.from == rank) result.sent += transfer.traffic;
    if (transfer.to == rank) result.received += transfer.traffic;
  }
  return result;
}

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

}  // namespace plait::bench
