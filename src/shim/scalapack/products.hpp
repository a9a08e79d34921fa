#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "plait/dense/multiplication.hpp"

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
/// anew, which is little work against their product.
[[nodiscard]] inline bool keeps_memory(const dense::Choice& choice) {
  return choice.workspace_bytes <= ProductCache::most_bytes / 8;
}

/// About how much memory a product keeps on a rank: the same number on all ranks.
[[nodiscard]] inline Index estimated_bytes(const dense::Choice& choice, const dense::Factors& factors,
                                           const layout::Layout& c) {
  return (keeps_memory(choice) ? choice.workspace_bytes : 0) + estimated_bytes({factors.a, factors.a}) +
         estimated_bytes({factors.b, factors.b}) + estimated_bytes({c, c});
}

}  // namespace plait::shim::scalapack
