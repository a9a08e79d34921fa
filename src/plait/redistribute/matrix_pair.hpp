#pragma once

#include <optional>

#include "plait/layout/layout.hpp"
#include "plait/redistribute/op.hpp"
#include "plait/redistribute/trapezoid.hpp"

namespace plait::redistribute {

/// How the matrices of A ← alpha·op(B) + beta·A are distributed.
///
/// \pre  apply(op, from.shape()) == to.shape(), and the diagonal of a part lies from -to.shape().columns to
///       to.shape().rows
struct MatrixPair {
  layout::Layout from;  ///< of B
  layout::Layout to;    ///< of A
  Op op = Op::identity;
  /// Of A: what lies outside is neither read, moved nor written. All of A without one.
  std::optional<Trapezoid> part = std::nullopt;

  /// The layout of op(B): B's, read the other way round where op transposes. Nothing has moved.
  [[nodiscard]] layout::Layout op_from() const { return transposes(op) ? from.transposed() : from; }
};

}  // namespace plait::redistribute
