#pragma once

#include <functional>
#include <span>
#include <vector>

#include "plait/base/index.hpp"

namespace plait::graph {

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
