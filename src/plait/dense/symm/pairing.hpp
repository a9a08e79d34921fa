#pragma once

#include <vector>

#include "plait/base/index.hpp"
#include "plait/dense/symm/options.hpp"

namespace plait::dense::symm {

/// Who computes what on a cube of ranks when only one of X(a, b) and X(b, a) is computed, X being D² or D³.
///
/// Of two indices one *leads* the other, each about half of the others. Where a leads b, P(a, j, b) and P(b, j, a) both
/// compute the term D(a, j)·D(j, b) of X(a, b): the former its first columns, the latter its last ones. P(a, j, a)
/// computes the lower triangle of the term of X(a, a). So every rank needs one whole block D(a, j), its *row*, and half
/// of the columns of D(j, b) or D²(j, b), its *column*; and it computes half a block.
///
/// Rank ((k - i) mod p)·p² + i·p + j is at (i, j, k): P(i, j, i), which are first, are the homes of the blocks (j, i).
class Pairing {
 public:
  explicit Pairing(const Grid& mesh) : mesh_(mesh) {}

  [[nodiscard]] const Grid& mesh() const noexcept { return mesh_; }
  [[nodiscard]] int rank(int i, int j, int k) const noexcept;
  [[nodiscard]] layout::GridPlace place(int rank) const noexcept;

  [[nodiscard]] bool leads(int a, int b) const noexcept;
  /// At (i, ·, k).
  [[nodiscard]] int row(int i, int k) const noexcept { return i == k || leads(i, k) ? i : k; }
  [[nodiscard]] int column(int i, int k) const noexcept { return i == k || leads(i, k) ? k : i; }

  /// Who needs D(a, j): its home P(a, j, a) first.
  [[nodiscard]] std::vector<int> ranks_of_row(int a, int j) const;
  /// Who needs the first (last) columns of X(j, b), besides P(b, j, b).
  [[nodiscard]] std::vector<int> ranks_of_first_columns(int j, int b) const;
  [[nodiscard]] std::vector<int> ranks_of_last_columns(int j, int b) const;
  /// P(i, :, k), who have terms of the same sum.
  [[nodiscard]] std::vector<int> ranks_of_sum(int i, int k) const;

  /// Of all rows, and of all columns with where they come from.
  [[nodiscard]] int most_ranks_of_row() const noexcept { return 1 + 2 * (mesh_.edge() / 2); }
  [[nodiscard]] int most_ranks_of_columns() const noexcept { return 1 + mesh_.edge() / 2; }

 private:
  [[nodiscard]] layout::ProcessGrid by_rows() const noexcept { return {mesh_.edge(), mesh_.edge(), mesh_.edge()}; }

  Grid mesh_;
};

}  // namespace plait::dense::symm
