#pragma once

#include <vector>

#include "plait/base/index.hpp"
#include "plait/mpi/context.hpp"
#include "plait/redistribute/batch.hpp"
#include "plait/redistribute/redistribution.hpp"

#include "bench/redistribute/moved_matrix.hpp"
#include "bench/redistribute/transfer.hpp"

namespace plait::bench {

/// What C = AᵀB moves that computes in layouts of its own, for A and B of many rows and few columns: both of them
/// there, and C back. In kind what section 7.3 of the paper on COSTA measures.
struct Multiplication {
  std::vector<Transfer> there;  // A and B, in one exchange
  Transfer back;                // C

  /// The ranks of the layouts that it computes in play the roles for which least is moved, of all three matrices.
  [[nodiscard]] Multiplication relabeled() const;

  /// What the rank that sends or receives most does of it, of both exchanges.
  [[nodiscard]] Index busiest_bytes() const;
};

/// A and B, rows x columns, lie in blocks of nearly a quarter of the rows, C in blocks of 32 x 32 on 2 x 2 ranks. The
/// multiplication halves the rows again and again and numbers the ranks as it goes: the first halves get even ranks.
/// Each rank computes a block of C in the end. On 4 ranks.
[[nodiscard]] Multiplication tall_multiplication(Index rows, Index columns);

/// The matrices and plans on one rank.
class MultiplicationOperands {
 public:
  MultiplicationOperands(mpi::Context& context, const Multiplication& moves);

  void rewrite();
  /// Moves A and B there, then C back. Collective.
  void move();
  /// How many elements of this rank are wrong after it.
  [[nodiscard]] Index wrong_elements() const;

 private:
  std::vector<MovedMatrix> there_;
  MovedMatrix back_;
  redistribute::Batch plan_there_;
  redistribute::Redistribution plan_back_;
};

}  // namespace plait::bench
