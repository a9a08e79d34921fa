#pragma once

#include <memory>
#include <tuple>
#include <vector>

#include "plait/model/algorithms.hpp"
#include "plait/model/choice.hpp"
#include "plait/model/placement.hpp"

namespace plait::model {

/// The alternatives for all operations and placements that were asked for, each made once.
class KnownAlternatives {
 public:
  /// \throws ArgumentError  as `Alternatives` does
  template <Algorithm A>
  [[nodiscard]] const Alternatives<A>& of(const Placement& placement) {
    auto& known = std::get<Known<A>>(known_);
    for (const auto& alternatives : known) {
      if (alternatives->placement() == placement) return *alternatives;
    }
    known.push_back(std::make_unique<Alternatives<A>>(placement));
    return *known.back();
  }

 private:
  template <Algorithm A>
  using Known = std::vector<std::unique_ptr<Alternatives<A>>>;
  std::tuple<Known<BroadcastAlgorithm>, Known<ReduceAlgorithm>, Known<AllreduceAlgorithm>, Known<AllGatherAlgorithm>,
             Known<ReduceScatterAlgorithm>, Known<AllToAllAlgorithm>>
      known_;
};

}  // namespace plait::model
