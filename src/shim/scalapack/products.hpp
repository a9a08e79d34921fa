#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "plait/base/index.hpp"
#include "plait/dense/multiplication.hpp"
#include "plait/mpi/communicator.hpp"

#include "shim/scalapack/plan_cache.hpp"

namespace plait::shim::scalapack {

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
