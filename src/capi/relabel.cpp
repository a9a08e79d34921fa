#include "plait/redistribute/relabel/relabel.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plait/base/error.hpp"
#include "plait/redistribute/relabel/package_cost.hpp"
#include "plait/redistribute/relabel/sized_pair.hpp"

#include "capi/handle.hpp"

using namespace plait::capi;
using plait::ArgumentError;
using plait::Index;
using plait::redistribute::LinkCost;
using plait::redistribute::PackageContent;
using plait::redistribute::PackageCost;

namespace {

/// What a user's function returned.
void expect_success(int returned, const char* function, int from, int to) {
  if (returned == 0) return;
  throw ArgumentError(std::string(function) + ": returned " + std::to_string(returned) + " for rank " +
                      std::to_string(from) + " and rank " + std::to_string(to) + ", expected 0");
}

/// A cost that C computes. It is given no tiles, so that packages need not list them.
class CallbackCost : public PackageCost {
 public:
  CallbackCost(plait_cost_function function, void* data) : function_(function), data_(data) {
    if (function == nullptr) throw ArgumentError("function: is NULL, expected a cost of one's own");
  }

  [[nodiscard]] Index cost(int from, int to, const PackageContent& package) const override {
    if (package.bytes == 0) return 0;
    const plait_package given{package.bytes, package.transformed_bytes};
    Index cost = 0;
    expect_success(function_(from, to, &given, data_, &cost), "function", from, to);
    if (cost < 0) {
      throw ArgumentError("function: the cost of sending from rank " + std::to_string(from) + " to rank " +
                          std::to_string(to) + " is " + std::to_string(cost) + ", expected at least 0");
    }
    return cost;
  }

 private:
  plait_cost_function function_;
  void* data_;
};

std::unique_ptr<PackageCost> link_cost(plait_link_function link, void* data) {
  if (link == nullptr) throw ArgumentError("link: is NULL, expected a function that tells of links");
  return std::make_unique<LinkCost>([link, data](int from, int to) {
    LinkCost::Link result;
    expect_success(link(from, to, data, &result.latency_seconds, &result.bytes_per_second), "link", from, to);
    return result;
  });
}

std::unique_ptr<PackageCost> package_cost(const plait_cost* given, int ranks) {
  if (given == nullptr) return std::make_unique<plait::redistribute::VolumeCost>();
  switch (given->kind) {
    case PLAIT_COST_VOLUME: return std::make_unique<plait::redistribute::VolumeCost>(given->transformation);
    case PLAIT_COST_LINK: return link_cost(given->link, given->data);
    case PLAIT_COST_CUSTOM: return std::make_unique<CallbackCost>(given->function, given->data);
    case PLAIT_COST_NODE: {
      const auto node_of = expect_array(given->node_of, ranks, "node_of");
      return std::make_unique<plait::redistribute::NodeCost>(std::vector<int>(node_of.begin(), node_of.end()),
                                                             given->in_node, given->network);
    }
    default: break;
  }
  throw ArgumentError("cost: its kind is " + std::to_string(given->kind) +
                      ", expected PLAIT_COST_VOLUME, PLAIT_COST_NODE, PLAIT_COST_LINK or PLAIT_COST_CUSTOM");
}

}  // namespace

int plait_relabel(const plait_sized_pair* pairs, plait_index count, int ranks, const plait_cost* cost, int* rank_of,
                  plait_relabeling* relabeling) {
  return guarded([&] {
    expect_at_least("ranks", ranks, 1);
    const auto result = expect_array(rank_of, ranks, "rank_of");
    std::vector<plait::redistribute::SizedPair> sized;
    const auto given = expect_array(pairs, count, "pairs");
    for (const plait_sized_pair& one : given) {
      named_pair(sized.size(), count, [&] {
        expect_at_least("element_bytes", one.element_bytes, 1);
        sized.push_back({matrix_pair(one.pair), one.element_bytes});
      });
    }
    const auto found = plait::redistribute::relabel(sized, ranks, *package_cost(cost, ranks));
    std::copy(found.rank_of.begin(), found.rank_of.end(), result.begin());
    if (relabeling != nullptr) *relabeling = {found.cost_before, found.cost_after};
  });
}
