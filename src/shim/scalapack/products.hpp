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
};

/// The products of one context: as for `PlanCache`. A key begins with the type of the elements.
using ProductCache = Cache<CachedProduct>;

/// About how much memory a product keeps on a rank: the same number on all ranks.
[[nodiscard]] inline Index estimated_bytes(const dense::Choice& choice, const dense::Factors& factors,
                                           const layout::Layout& c) {
  return choice.workspace_bytes - choice.redistribution_bytes + estimated_bytes(factors.a, factors.a) +
         estimated_bytes(factors.b, factors.b) + estimated_bytes(c, c);
}

}  // namespace plait::shim::scalapack
