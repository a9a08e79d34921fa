#pragma once

#include <functional>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/graph/assignment/sparse_savings.hpp"

namespace plait::graph {

/// The permutation with the largest  Σ savings(role, result[role]),  exactly, in integers.
///
/// Takes O(n³) steps at worst and n² integers of memory. Of equally good permutations always the same one; a role keeps
/// its own rank where changing places with who has it costs nothing.
///
/// \pre  savings.rows() == savings.columns(); savings may be negative
/// \throws ArgumentError  the view isn't square, or  Σ_role (max(0, its largest saving) - min(0, its smallest one))
///                        exceeds 2^62
///
/// Source: Jonker, Volgenant: "A shortest augmenting path algorithm for dense and sparse linear assignment problems",
/// Computing 38 (1987).
[[nodiscard]] std::vector<int> assign_dense(matrix_view<const Index> savings);

/// The best permutation together with the proof that it is: prices with
///
///   role_prices[i] + rank_prices[j] >= savings(i, j)  and  both >= 0  for every role i and rank j,
///   Σ role_prices + Σ rank_prices == Σ savings(i, rank_of[i]).
struct PricedAssignment {
  std::vector<int> rank_of;
  std::vector<Index> role_prices;
  std::vector<Index> rank_prices;
};

/// The permutation with the largest  Σ savings(role, rank_of[role]),  exactly, in integers.
///
/// Takes memory for n roles and n ranks beside the savings, never n². At worst each role searches all entries; usually
/// few have to search, and see a small part. Of equally good permutations always the same one; a role keeps its own
/// rank where changing places with who has it costs nothing, in particular where neither saves anything.
///
/// Source: Jonker, Volgenant, Computing 38 (1987), for a matching that need not be perfect: each role may stay without
/// a rank for 0, so a path also ends there.
[[nodiscard]] PricedAssignment assign_with_prices(const SparseSavings& savings);

/// As `assign_with_prices`, result[role] = rank.
[[nodiscard]] std::vector<int> assign_sparse(const SparseSavings& savings);

/// Writes what each rank saves as `role`, all >= 0, into savings[rank]. Must write the same each time.
using SavingsOfRole = std::function<void(Index role, std::span<Index> savings)>;

/// The permutation with the largest  Σ savings(role, result[role]),  exactly, in integers, for tables too large to
/// store: of n² savings a small core is kept, solved as a sparse problem, and the prices that come out are held against
/// every saving. Those that refute them join the core, until none does.
///
/// Asks for each row a few times, and takes memory for some dozens of savings a role. Where all roles prefer the same
/// ranks in the same order it takes more of both, and much longer.
///
/// \throws ArgumentError  n < 0 or is no `int`, a saving is negative, or the roles' largest ones add up to more than
/// 2^62
///
/// Source: Volgenant: "Linear and semi-assignment problems: a core oriented approach", Computers & Operations Research
/// 23 (1996).
[[nodiscard]] std::vector<int> assign_by_core(Index n, const SavingsOfRole& savings_of);

}  // namespace plait::graph
