#pragma once

#include <algorithm>
#include <array>
#include <iterator>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/dense/multiplication.hpp"
#include "plait/mpi/communicator.hpp"
#include "plait/mpi/context.hpp"
#include "plait/redistribute/matrix_pair.hpp"
#include "plait/redistribute/plan.hpp"

#include "shim/scalapack/blacs.hpp"

namespace plait::shim::scalapack {

/// A plan, and what is known of its executions.
struct CachedPlan {
  /// In the same order on all ranks of the context. Communicates nothing, and what fails here fails when the plan is
  /// executed.
  CachedPlan(mpi::Context& context, redistribute::MatrixPair pair, std::shared_ptr<redistribute::RingMemory> rings);

  redistribute::Plan plan;
  /// Sizes of elements that the plan was executed with: all ranks have agreed then that they can do it.
  std::set<Index> proven;
};

/// What the latest calls on one context use again, plans or the like; the least recently used goes first.
///
/// Making and destroying plans is collective, so what is kept must be a function of what all ranks know: keys are made
/// of the global arguments and of the process grids, and the price of a plan is estimated from them. Every rank makes
/// the same calls in the same order, and so finds, makes and drops the same plans.
template <class Plan>
class Cache {
 public:
  using Key = std::vector<Index>;

  static constexpr std::size_t most_plans = 64;
  static constexpr Index most_bytes = Index{128} << 20;

  /// The plan of this key, or null.
  [[nodiscard]] Plan* find(const Key& key) {
    const auto found =
        std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.key == key; });
    if (found == entries_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, found);
    return found->plan.get();
  }

  /// Keeps a plan, and drops others for it, but never this one.
  Plan& keep(Key key, std::unique_ptr<Plan> plan, Index bytes) {
    entries_.push_front({std::move(key), std::move(plan), bytes});
    bytes_ += bytes;
    while (entries_.size() > 1 && (entries_.size() > most_plans || bytes_ > most_bytes)) {
      bytes_ -= entries_.back().bytes;
      entries_.pop_back();
    }
    return *entries_.front().plan;
  }

  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }

 private:
  struct Entry {
    Key key;
    std::unique_ptr<Plan> plan;
    Index bytes;
  };

  std::list<Entry> entries_;  // the most recently used first
  Index bytes_ = 0;
};

/// Of redistributions. A key begins with the kind of call; what follows tells calls of a kind apart.
class PlanCache : public Cache<CachedPlan> {
 public:
  enum Kind : Index { copy, add };
};

/// Puts more numbers into a key.
template <class Numbers>
void append(std::vector<Index>& key, const Numbers& numbers) {
  key.insert(key.end(), std::begin(numbers), std::end(numbers));
}
inline void append(std::vector<Index>& key, const ProcessMap& map) {
  append(key, std::array{map.rows, map.columns});
  append(key, map.ranks);
}
inline void append(std::vector<Index>& key, const std::optional<redistribute::Trapezoid>& part) {
  const Index side = !part ? 0 : part->side == redistribute::Trapezoid::Side::upper ? 1 : 2;
  append(key, std::array{side, part ? part->diagonal : Index{0}});
}

/// About how much memory a plan takes on a rank: the same number on all ranks.
[[nodiscard]] Index estimated_bytes(const redistribute::MatrixPair& pair);

/// A planned product of any type of elements.
class CachedProduct {
 public:
  CachedProduct() = default;
  CachedProduct(const CachedProduct&) = delete;
  CachedProduct& operator=(const CachedProduct&) = delete;
  virtual ~CachedProduct() = default;
};

template <class T>
class ProductOf final : public CachedProduct {
 public:
  explicit ProductOf(dense::Multiplication<T> made) : product(std::move(made)) {}
  dense::Multiplication<T> product;
  /// All ranks have agreed that they can execute it.
  bool is_proven = false;
};

/// The products of one context: as for `PlanCache`. A key begins with the type of the elements.
using ProductCache = Cache<CachedProduct>;

/// Whether a product keeps its memory from call to call, beside its plan: parts of large matrices are better taken
/// each time, which is little work against their product.
[[nodiscard]] inline bool keeps_memory(const dense::Choice& choice) {
  return choice.workspace_bytes <= ProductCache::most_bytes / 8;
}

/// About how much memory a product keeps on a rank: the same number on all ranks.
[[nodiscard]] inline Index estimated_bytes(const dense::Choice& choice, const dense::Factors& factors,
                                           const layout::Layout& c) {
  return (keeps_memory(choice) ? choice.workspace_bytes : 0) + estimated_bytes({factors.a, factors.a}) +
         estimated_bytes({factors.b, factors.b}) + estimated_bytes({c, c});
}

/// From which size on p?gemm is served, where the environment does not say so: below, ScaLAPACK is about as fast, as it
/// plans nothing and asks nobody.
inline constexpr int usual_least_order = 128;

/// That of PLAIT_GEMM_FROM on rank 0, told to all others, so that all decide alike. Something else than a number from 0
/// on is told to be wrong by the rank 0 of all processes, and does not count. Collective.
[[nodiscard]] int least_order(const mpi::Communicator& comm);

/// The order of the square matrices that m x n sums of k terms have to be as much work as: `order`, and twice that
/// where one of the three is less than half of it. Such tall, flat and deep products have to move more for their work,
/// and begin to be faster later.
[[nodiscard]] constexpr Index asked_order(int m, int n, int k, int order) noexcept {
  return 2 * Index{std::min({m, n, k})} < order ? 2 * Index{order} : Index{order};
}

[[nodiscard]] constexpr bool is_as_large(int m, int n, int k, int order) noexcept {
  const auto asked = static_cast<double>(asked_order(m, n, k, order));
  return static_cast<double>(m) * n * k >= asked * asked * asked;
}

}  // namespace plait::shim::scalapack
