#pragma once

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/base/memory.hpp"
#include "plait/layout/layout.hpp"
#include "plait/redistribute/op.hpp"
#include "plait/redistribute/operands.hpp"
#include "plait/redistribute/redistribution.hpp"

namespace plait::bench {

/// A matrix B of doubles in one layout, and memory for A = op(B) in another, on one rank: local arrays as ScaLAPACK has
/// them, so that plait, limits and peers work on the same memory.
///
/// \pre  both layouts are column-major and give every rank one tile
class MovedMatrix {
 public:
  MovedMatrix(int rank, const layout::Layout& from, const layout::Layout& to, redistribute::Op op);

  /// Writes B, and not-a-numbers into A.
  void rewrite();
  /// A ← op(B). Collective.
  void move_by(redistribute::Redistribution& plan);
  [[nodiscard]] redistribute::Operands operands() const;
  /// How many elements of this rank's part of A are not those of op(B).
  [[nodiscard]] Index wrong_elements() const;

  [[nodiscard]] const layout::Layout& from() const noexcept { return from_; }
  [[nodiscard]] const layout::Layout& to() const noexcept { return to_; }
  [[nodiscard]] redistribute::Op op() const noexcept { return op_; }
  [[nodiscard]] const Array<double>& source() const noexcept { return source_; }
  /// As long as the source at least, of which a limit may write a copy.
  [[nodiscard]] const Array<double>& target() const noexcept { return target_; }

 private:
  [[nodiscard]] double value_at(Index row, Index column) const;

  layout::Layout from_;
  layout::Layout to_;
  int rank_;
  redistribute::Op op_;
  Array<double> source_;
  Array<double> target_;
  matrix_view<double> source_view_;
  matrix_view<double> target_view_;
};

}  // namespace plait::bench
