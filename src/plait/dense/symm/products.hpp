#pragma once

#include <cstddef>

#include "plait/base/dtype.hpp"
#include "plait/base/index.hpp"
#include "plait/mpi/reduction.hpp"
#include "plait/redistribute/op.hpp"
#include "plait/schedule/combine.hpp"

namespace plait::dense::symm {

using redistribute::Op;

/// A block as it lies in memory: column-major, columns `leading_dimension` elements apart.
struct Block {
  std::byte* data;
  Index rows, columns;
  Index leading_dimension;
};
struct ConstBlock {
  ConstBlock(const std::byte* its_data, Index its_rows, Index its_columns, Index its_leading_dimension) noexcept
      : data(its_data), rows(its_rows), columns(its_columns), leading_dimension(its_leading_dimension) {}
  ConstBlock(Block block) noexcept  // NOLINT(google-explicit-constructor): as T* to const T*
      : ConstBlock(block.data, block.rows, block.columns, block.leading_dimension) {}
  const std::byte* data;
  Index rows, columns;
  Index leading_dimension;
};

/// Without gaps between its columns.
[[nodiscard]] inline ConstBlock packed(const std::byte* data, Index rows, Index columns) noexcept {
  return {data, rows, columns, rows > 0 ? rows : 1};
}
[[nodiscard]] inline Block packed(std::byte* data, Index rows, Index columns) noexcept {
  return {data, rows, columns, rows > 0 ? rows : 1};
}

/// What is done to blocks of one type of elements, for graphs that need not know it.
struct Products {
  Index element_bytes;
  mpi::Reduction sum;         ///< by the MPI library
  schedule::Combine combine;  ///< the same by plait

  /// C ← op(A)·op(B), where an op is the identity or the conjugate transpose.
  void (*multiply)(Op op_a, ConstBlock a, Op op_b, ConstBlock b, Block c);
  /// C ← C + op(A)·op(B).
  void (*multiply_and_add)(Op op_a, ConstBlock a, Op op_b, ConstBlock b, Block c);
  /// to ← the conjugate transpose of `from`.
  void (*mirror)(ConstBlock from, Block to);
  /// Of a Hermitian matrix some columns from `first` on: `panel` has what is on the diagonal and below, and above it
  /// anything. They and their mirrored rows come into `whole`; the diagonal becomes real.
  void (*mirror_lower)(ConstBlock panel, Index first, Block whole);
};

template <Field T>
[[nodiscard]] const Products& products_of();

}  // namespace plait::dense::symm
