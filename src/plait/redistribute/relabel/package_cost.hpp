#pragma once

#include <functional>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/layout/owners.hpp"

namespace plait::redistribute {

/// What one tile of B and one tile of A have in common; one of several rectangles of that where only a part of A is
/// meant.
struct PackageTile {
  std::size_t pair = 0;         ///< of the batch
  layout::TilePosition source;  ///< in the layout of op(B)
  layout::TilePosition target;  ///< in the layout of A
  Index rows = 0;               ///< elements in common, not always neighbours
  Index columns = 0;
  Index bytes = 0;
  bool transforms = false;
};

/// All that one rank sends to another: S_ij of the paper.
struct PackageContent {
  Index bytes = 0;
  Index transformed_bytes = 0;           ///< of them, those that are transformed on their way
  std::span<const PackageTile> tiles{};  ///< only for a cost that looks at them
};

/// What it costs that one rank sends a package to another, w(p_i, p_j, S_ij) of the paper, in whole units of one's own
/// choice: relabeling finds the least sum exactly. Never negative.
///
/// Source: Kabić et al., "COSTA", section 3.
class PackageCost {
 public:
  PackageCost() = default;
  PackageCost(const PackageCost&) = default;
  PackageCost& operator=(const PackageCost&) = default;
  virtual ~PackageCost() = default;

  [[nodiscard]] virtual Index cost(int from, int to, const PackageContent& package) const = 0;

  [[nodiscard]] virtual bool looks_at_tiles() const { return false; }

  /// Whether each rank has few near ones, while sending to any other costs the same, which is `far` and never less than
  /// to a near one. Without that structure relabeling P ranks takes P² integers.
  [[nodiscard]] virtual bool tells_near_from_far() const { return false; }
  virtual void append_near(int /*from*/, std::vector<int>& /*ranks*/) const {}
  [[nodiscard]] virtual Index far(const PackageContent&) const { return 0; }
};

/// Bytes; what stays on its rank is free. The default.
class VolumeCost : public PackageCost {
 public:
  /// \param transformation  added for each byte that is sent and transformed: it costs a pass over a message, while
  ///                        what stays on its rank is transformed as it is copied. >= 0
  explicit VolumeCost(Index transformation = 0);
  [[nodiscard]] Index cost(int from, int to, const PackageContent& package) const override;
  [[nodiscard]] bool tells_near_from_far() const override { return true; }
  void append_near(int from, std::vector<int>& ranks) const override;
  [[nodiscard]] Index far(const PackageContent& package) const override;

 private:
  Index transformation_;
};

/// Bytes with a weight: own rank free, same node cheap.
class NodeCost : public PackageCost {
 public:
  /// \param node_of   the node of each rank, any numbers
  /// \param in_node   of a byte that stays in a node, 0 <= in_node <= network
  /// \param network   of a byte that goes from node to node
  NodeCost(std::vector<int> node_of, Index in_node, Index network);
  [[nodiscard]] Index cost(int from, int to, const PackageContent& package) const override;
  [[nodiscard]] bool tells_near_from_far() const override { return true; }
  void append_near(int from, std::vector<int>& ranks) const override;
  [[nodiscard]] Index far(const PackageContent& package) const override;

 private:
  [[nodiscard]] std::size_t checked(int rank) const;

  std::vector<int> node_of_;
  std::vector<std::vector<int>> ranks_of_;  // of the node of each rank, by a number of the node
  std::vector<std::size_t> number_of_;
  Index in_node_;
  Index network_;
};

/// latency + bytes / bandwidth of each pair of ranks, in nanoseconds; what stays on its rank is free.
class LinkCost : public PackageCost {
 public:
  struct Link {
    double latency_seconds = 0;
    double bytes_per_second = 1e9;
  };
  explicit LinkCost(std::function<Link(int from, int to)> link) : link_(std::move(link)) {}
  [[nodiscard]] Index cost(int from, int to, const PackageContent& package) const override;

 private:
  std::function<Link(int, int)> link_;
};

/// Whatever a user computes from the package and its tiles.
class CustomCost : public PackageCost {
 public:
  using Function = std::function<Index(int from, int to, const PackageContent& package)>;
  explicit CustomCost(Function function) : function_(std::move(function)) {}
  [[nodiscard]] Index cost(int from, int to, const PackageContent& package) const override;
  [[nodiscard]] bool looks_at_tiles() const override { return true; }

 private:
  Function function_;
};

}  // namespace plait::redistribute
