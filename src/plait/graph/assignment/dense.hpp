#pragma once

#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"

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

}  // namespace plait::graph
