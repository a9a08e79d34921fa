#pragma once

#include <string>
#include <vector>

#include "plait/graph/assignment/sparse_savings.hpp"

namespace plait::test {

/// Savings of some structure, the same for the same n.
struct SavingsKind {
  std::string name;
  std::vector<graph::Saving> (*make)(int n);
};

/// Those that a solver may find hard, each for its reason.
[[nodiscard]] const std::vector<SavingsKind>& savings_kinds();

}  // namespace plait::test
