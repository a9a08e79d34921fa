#pragma once

#include <cstddef>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/dense/arrangement/arrangement.hpp"
#include "plait/dense/local_product.hpp"
#include "plait/dense/panels.hpp"
#include "plait/mpi/context.hpp"
#include "plait/schedule/graph.hpp"

namespace plait::dense {

/// What a run of a product's graph is started with: this rank's tiles of op(A), rows × terms, op(B), terms × columns,
/// and C, wherever and however they lie, and the scalars, of the elements' type.
struct ProductArguments {
  LocalFactor a, b;
  std::byte* c = nullptr;
  Index c_stride = 1;
  StorageOrder c_order = StorageOrder::column_major;
  const void* alpha = nullptr;
  const void* beta = nullptr;
};

/// Whether the parts of A (of B) go from rank to rank. If not, ranks need theirs only as `ProductArguments` have it.
[[nodiscard]] bool a_travels(const Arrangement& arrangement) noexcept;
[[nodiscard]] bool b_travels(const Arrangement& arrangement) noexcept;

/// C ← alpha·op(A)·op(B) + beta·C as a graph. Its inputs A and B and its output C, in this order, are tiles as
/// `tile_elements` says, without gaps, A and C by columns, B by rows; what does not travel, and C unless layers add it
/// up, is not bound but an argument alone. While a panel (a part) is multiplied, the next ones travel. Sums are made in
/// an order that depends on the arrangement and the cut alone, so that every run brings the same bits.
///
/// With several layers, beta is 0 and alpha 1: what they add up is the product alone.
///
/// \param role     of this rank; from mesh.ranks() on, its part of the graph is empty
/// \param rank_of  the rank of the context that plays a role
[[nodiscard]] schedule::Graph product_graph(const mpi::Context& context, const Arrangement& arrangement, const Cut& cut,
                                            const ElementKind& kind, int role, const std::vector<int>& rank_of);

}  // namespace plait::dense
