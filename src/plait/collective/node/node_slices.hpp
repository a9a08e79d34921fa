#pragma once

#include <span>

#include "plait/base/index.hpp"

namespace plait::collective {

/// Who gets the result of a reduction.
enum class Deliver : unsigned char {
  to_all,         ///< all of it, each rank
  to_root,        ///< all of it, one rank
  to_owners,      ///< each rank its slice, at the beginning of its output
  up_to_itself,   ///< each rank that of the operands of the ranks up to itself, as MPI_Scan does
  up_to_the_last  ///< and of those before it, as MPI_Exscan does: nothing for rank 0
};

/// Divides n elements into a slice for each rank, which that rank is to reduce: equal ones, but for the last, each a
/// whole number of cache lines. `begins` gets the first element of each slice and, behind them, n.
void divide_equally(Index n, Index element_bytes, std::span<Index> begins);

/// The slices for a result that only `root` gets. Between two ranks all of it is the root's: what the other one reduced
/// would have to be copied once more.
void divide_for_root(Index n, Index element_bytes, int root, std::span<Index> begins);

/// Slices of these lengths.
void divide_by_counts(std::span<const Index> counts, std::span<Index> begins);

/// The longest slice.
[[nodiscard]] Index longest_slice(std::span<const Index> begins);

/// A part of a slice, the elements [begin, end) of the whole.
struct Piece {
  Index begin;
  Index end;
  [[nodiscard]] Index size() const noexcept { return end - begin; }
};

/// The `round`-th piece, of `length` elements or what is left, of the slice of `owner`; empty beyond its end.
[[nodiscard]] Piece piece_of(std::span<const Index> begins, int owner, Index round, Index length);

}  // namespace plait::collective
