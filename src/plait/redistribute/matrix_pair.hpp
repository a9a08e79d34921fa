#pragma once

#include "plait/layout/layout.hpp"
#include "plait/redistribute/op.hpp"

namespace plait::redistribute {

/// How the matrices of A ← alpha·op(B) + beta·A are distributed.
///
/// \pre  apply(op, from.shape()) == to.shape()
struct MatrixPair {
  layout::Layout from;  ///< of B
  layout::Layout to;    ///< of A
  Op op = Op::identity;

  /// The layout of op(B): B's, read the other way round where op transposes. Nothing has moved.
  [[nodiscard]] layout::Layout op_from() const { return transposes(op) ? from.transposed() : from; }
};

}  // namespace plait::redistribute
