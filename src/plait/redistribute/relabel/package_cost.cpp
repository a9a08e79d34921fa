#include "plait/redistribute/relabel/package_cost.hpp"

#include <cmath>
#include <map>
#include <string>

#include "plait/base/error.hpp"

namespace plait::redistribute {

namespace {

constexpr double most_nanoseconds = 0x1p62;

Index times(Index weight, Index bytes) {
  Index product = 0;
  if (__builtin_mul_overflow(weight, bytes, &product)) {
    throw ArgumentError("a cost of " + std::to_string(weight) + " for each of " + std::to_string(bytes) +
                        " bytes, expected less than 2^63 in all");
  }
  return product;
}

Index plus(Index a, Index b) {
  Index sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) {
    throw ArgumentError("costs of " + std::to_string(a) + " and " + std::to_string(b) +
                        ", expected less than 2^63 in all");
  }
  return sum;
}

}  // namespace

VolumeCost::VolumeCost(Index transformation) : transformation_(transformation) {
  if (transformation < 0) {
    throw ArgumentError("transformation is " + std::to_string(transformation) + ", expected at least 0");
  }
}

Index VolumeCost::cost(int from, int to, const PackageContent& package) const { return from == to ? 0 : far(package); }

void VolumeCost::append_near(int from, std::vector<int>& ranks) const { ranks.push_back(from); }

Index VolumeCost::far(const PackageContent& package) const {
  return plus(package.bytes, times(transformation_, package.transformed_bytes));
}

NodeCost::NodeCost(std::vector<int> node_of, Index in_node, Index network)
    : node_of_(std::move(node_of)), in_node_(in_node), network_(network) {
  if (in_node < 0 || network < in_node) {
    throw ArgumentError("in_node is " + std::to_string(in_node) + " and network " + std::to_string(network) +
                        ", expected 0 <= in_node <= network");
  }
  std::map<int, std::size_t> numbers;
  for (std::size_t rank = 0; rank < node_of_.size(); ++rank) {
    const std::size_t number = numbers.emplace(node_of_[rank], numbers.size()).first->second;
    number_of_.push_back(number);
    ranks_of_.resize(numbers.size());
    ranks_of_[number].push_back(static_cast<int>(rank));
  }
}

std::size_t NodeCost::checked(int rank) const {
  if (rank < 0 || static_cast<std::size_t>(rank) >= node_of_.size()) {
    throw ArgumentError("node_of has the nodes of " + std::to_string(node_of_.size()) + " ranks, expected rank " +
                        std::to_string(rank) + " too");
  }
  return static_cast<std::size_t>(rank);
}

Index NodeCost::cost(int from, int to, const PackageContent& package) const {
  if (from == to) return 0;
  return times(number_of_[checked(from)] == number_of_[checked(to)] ? in_node_ : network_, package.bytes);
}

void NodeCost::append_near(int from, std::vector<int>& ranks) const {
  const std::vector<int>& same_node = ranks_of_[number_of_[checked(from)]];
  ranks.insert(ranks.end(), same_node.begin(), same_node.end());
}

Index NodeCost::far(const PackageContent& package) const { return times(network_, package.bytes); }

Index LinkCost::cost(int from, int to, const PackageContent& package) const {
  if (from == to || package.bytes == 0) return 0;
  const Link link = link_(from, to);
  const double nanoseconds = (link.latency_seconds + static_cast<double>(package.bytes) / link.bytes_per_second) * 1e9;
  if (!(nanoseconds >= 0 && nanoseconds < most_nanoseconds)) {
    throw ArgumentError("the link from rank " + std::to_string(from) + " to " + std::to_string(to) + " takes " +
                        std::to_string(nanoseconds) + " ns for " + std::to_string(package.bytes) +
                        " bytes, expected a time from 0 to 2^62");
  }
  return std::llround(nanoseconds);
}

Index CustomCost::cost(int from, int to, const PackageContent& package) const {
  if (package.bytes == 0) return 0;
  const Index cost = function_(from, to, package);
  if (cost < 0) {
    throw ArgumentError("the cost of sending from rank " + std::to_string(from) + " to " + std::to_string(to) + " is " +
                        std::to_string(cost) + ", expected at least 0");
  }
  return cost;
}

}  // namespace plait::redistribute
