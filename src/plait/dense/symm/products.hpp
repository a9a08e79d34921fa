#pragma once

#include <cstddef>

#include "plait/base/dtype.hpp"
#include "plait/base/index.hpp"
#include "plait/dense/local_product.hpp"
#include "plait/mpi/reduction.hpp"
#include "plait/redistribute/op.hpp"
#include "plait/schedule/combine.hpp"
#include "plait/schedule/graph.hpp"

namespace plait::dense::symm {

using redistribute::Op;

/// What is done to blocks of one type of elements, for graphs that need not know it. Blocks are column-major, columns
/// one behind the other if nothing else is said.
struct Products {
  ElementKind kind;
  const void *zero, *one;     ///< of the elements' type
  mpi::Reduction sum;         ///< by the MPI library
  schedule::Combine combine;  ///< the same by plait

  [[nodiscard]] Index element_bytes() const noexcept { return kind.bytes; }

  /// to ← fromᴴ of a block of rows × columns, where columns of `to` are so many elements apart.
  void (*mirror)(Index rows, Index columns, const std::byte* from, std::byte* to, Index stride);
  /// Of a Hermitian n × n matrix the columns [first, last): `panel` has the rows from `first` on, and above the
  /// diagonal anything. They and their mirrored rows come into `whole`; the diagonal becomes real.
  void (*mirror_lower)(Index n, Index first, Index last, const std::byte* panel, std::byte* whole);
};

template <Field T>
[[nodiscard]] const Products& products_of();

/// C ← op(A)·op(B), or C ← C + op(A)·op(B), of blocks; an op is the identity or the conjugate transpose.
struct BlockProduct {
  Op op_a = Op::identity, op_b = Op::identity;
  schedule::Range a{}, b{}, c{};  ///< where they lie in a graph
  Index rows, inner, columns;
  bool adds = false;

  /// Columns [first, first + count) of C, of blocks in memory.
  void multiply(const Products& products, const std::byte* block_a, const std::byte* block_b, std::byte* block_c,
                Index first, Index count) const;
  /// Some columns in each step, so that messages are looked after in between.
  /// \param products  outlives the graph
  schedule::OperationId append(schedule::Graph& graph, schedule::Position position, const Products& products,
                               schedule::Dependencies after) const;
};

}  // namespace plait::dense::symm
