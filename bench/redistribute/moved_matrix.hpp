#pragma once

#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/base/memory.hpp"
#include "plait/layout/layout.hpp"
#include "plait/mpi/context.hpp"
#include "plait/redistribute/op.hpp"
#include "plait/redistribute/operands.hpp"
#include "plait/redistribute/redistribution.hpp"

#include "bench/harness/measure.hpp"

namespace plait::bench {

/// How the operands lie in memory and what becomes of the old A.
struct Form {
  Index leading_dimension = 0;  // of every tile of A and B; without gaps where a tile's columns (rows) are longer
  double alpha = 1, beta = 0;   // A ← alpha·op(B) + beta·A; small and whole, so that results are exact
  bool shared = false;          // in memory from `Context::allocate_shared`
};

/// Doubles in ordinary memory, or in such as the ranks of a node share.
class MovedMemory {
 public:
  MovedMemory(mpi::Context& context, Index elements, bool shared);
  [[nodiscard]] std::span<double> span() const noexcept;

 private:
  Buffer ordinary_;
  mpi::SharedMemory shared_;
};

/// A matrix B of doubles in one layout and a matrix A in another, on one rank: local arrays as ScaLAPACK has them, so
/// that plait, limits and peers work on the same memory.
class MovedMatrix {
 public:
  /// Collective over the context.
  MovedMatrix(mpi::Context& context, const layout::Layout& from, const layout::Layout& to, redistribute::Op op,
              Form form = {});

  /// Writes B, and the old A: not-a-numbers where beta is 0.
  void rewrite();
  /// A ← alpha·op(B) + beta·A. Collective.
  void move_by(redistribute::Redistribution& plan);
  [[nodiscard]] redistribute::Operands operands() const;
  /// How many elements of this rank's part of A are not those of alpha·op(B) + beta·A.
  [[nodiscard]] Index wrong_elements() const;

  [[nodiscard]] const layout::Layout& from() const noexcept { return from_; }
  [[nodiscard]] const layout::Layout& to() const noexcept { return to_; }
  [[nodiscard]] redistribute::Op op() const noexcept { return op_; }
  [[nodiscard]] double alpha() const noexcept { return form_.alpha; }
  [[nodiscard]] double beta() const noexcept { return form_.beta; }
  [[nodiscard]] std::span<const matrix_view<double>> source_tiles() const noexcept { return source_tiles_; }
  [[nodiscard]] std::span<const matrix_view<double>> target_tiles() const noexcept { return target_tiles_; }

  /// What bounds the move: a copy of this rank's part of B within the memory of both, or what adds it to A.
  [[nodiscard]] std::vector<Contender> limits() const;

 private:
  [[nodiscard]] double value_at(Index row, Index column) const;

  layout::Layout from_;
  layout::Layout to_;
  int rank_;
  redistribute::Op op_;
  Form form_;
  MovedMemory source_;
  MovedMemory target_;
  std::vector<matrix_view<double>> source_tiles_;
  std::vector<matrix_view<double>> target_tiles_;
};

}  // namespace plait::bench
