#pragma once

#include <vector>

#include "plait/base/index.hpp"
#include "plait/layout/layout.hpp"

namespace plait::dense {

/// A place on a mesh of ranks.
struct SymmPlace {
  int i = 0;  ///< of `edge`
  int j = 0;  ///< of `edge`
  int k = 0;  ///< of `layers`
  friend bool operator==(const SymmPlace&, const SymmPlace&) = default;
};

/// The first edge × edge × layers ranks, which square and cube a matrix of n × n elements that is cut into edge × edge
/// nearly equal blocks. Rank (k·edge + j)·edge + i is at (i, j, k); the ranks of the first layer have the blocks. The
/// other ranks have nothing to do.
class SymmMesh {
 public:
  /// \pre  n >= 0, edge >= 1, layers >= 1, and the number of ranks is an int
  SymmMesh(Index n, int edge, int layers);

  /// The largest p with p³ (p² · layers) ranks.
  [[nodiscard]] static int largest_cube(int ranks) noexcept;
  [[nodiscard]] static int largest_edge(int ranks, int layers) noexcept;

  [[nodiscard]] Index n() const noexcept { return n_; }
  [[nodiscard]] int edge() const noexcept { return edge_; }
  [[nodiscard]] int layers() const noexcept { return layers_; }
  [[nodiscard]] int ranks() const noexcept { return edge_ * edge_ * layers_; }
  [[nodiscard]] bool contains(int rank) const noexcept { return rank < ranks(); }
  [[nodiscard]] int rank(SymmPlace place) const noexcept { return (place.k * edge_ + place.j) * edge_ + place.i; }
  [[nodiscard]] int rank(int i, int j, int k) const noexcept { return rank({i, j, k}); }
  /// \pre  contains(rank)
  [[nodiscard]] SymmPlace place(int rank) const noexcept {
    return {rank % edge_, rank / edge_ % edge_, rank / edge_ / edge_};
  }

  /// The rows (columns) of the matrix that are in the i-th block row (column), and the elements of a block.
  [[nodiscard]] Index extent(int i) const noexcept { return n_ / edge_ + (i < n_ % edge_ ? 1 : 0); }
  [[nodiscard]] Index elements(int i, int j) const noexcept { return extent(i) * extent(j); }
  [[nodiscard]] Index most_elements() const noexcept { return elements(0, 0); }

  /// P(:, j, k), P(i, :, k) and P(i, j, :): what the literature calls row_comm, col_comm and grd_comm.
  [[nodiscard]] std::vector<int> along_i(int j, int k) const;
  [[nodiscard]] std::vector<int> along_j(int i, int k) const;
  [[nodiscard]] std::vector<int> along_k(int i, int j) const;

  /// Block (i, j) on P(i, j, 0), column-major.
  [[nodiscard]] layout::Layout layout() const;

 private:
  Index n_;
  int edge_;
  int layers_;
};

}  // namespace plait::dense
