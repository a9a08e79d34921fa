#pragma once

#include <limits>
#include <optional>

#include "plait/base/contract.hpp"
#include "plait/base/index.hpp"
#include "plait/layout/layout.hpp"
#include "plait/layout/process_grid.hpp"

namespace plait::dense::symm {

/// How D² and D³ are computed. "Algorithm n" is that of the paper named in `SquareCube`.
enum class Algorithm : unsigned char {
  original,    ///< Algorithm 3: on a cube of ranks, by the MPI library's blocking collectives
  baseline,    ///< Algorithm 4: the same without transposing the blocks of D²
  overlapped,  ///< Algorithm 5: Algorithm 4 with each block in strands, so that its collectives overlap
  cannon,      ///< Algorithm 6: two 2.5D products, whose layers make a share of the steps of Cannon's algorithm each
  mirrored,    ///< plait's own: one graph in which half of each product is computed, as the other half mirrors it
};

/// Who carries the collectives of an overlapped algorithm out.
enum class Backend : unsigned char {
  plait,  ///< messages from rank to rank on a schedule
  mpi,    ///< the MPI library's non-blocking collectives, each strand on communicators of its own
};

/// What is empty is chosen, alike on all ranks.
struct Options {
  /// `mirrored`, but `cannon` where that keeps more than twice as many ranks busy: twice, as it multiplies twice as
  /// much.
  std::optional<Algorithm> algorithm = {};
  Backend backend = Backend::plait;  ///< of Algorithms 5 and 6
  /// In how many strands blocks are cut: the paper's N_DUP. Of Algorithms 5 and 6; 4 with MPI's collectives, as in
  /// the paper, 1 with plait's own, whose segments overlap anyway.
  std::optional<int> strands = {};
  /// Of what one message carries at most.
  std::optional<Index> segment_bytes = {};
  /// p: the mesh has p × p × p ranks, or with Algorithm 6 p × p × `layers`. As many as there are ranks for.
  std::optional<int> edge = {};
  /// c: of Algorithm 6; at most p. So many that most ranks take part.
  std::optional<int> layers = {};
  /// Only so many ranks of each node take part and have blocks, while the others sleep (`mpi::ActiveRanks`): where a
  /// program is started with more of them than suit this.
  std::optional<int> ranks_per_node = {};
};

/// The ranks which square and cube a matrix of n × n elements: `depth` layers of edge × edge, numbered by columns. Rank
/// P(i, j, k) is in row i and column j of layer k; block (i, j) of edge × edge nearly equal ones is on P(i, j, 0),
/// column-major. Further ranks have nothing to do.
class Grid : public layout::ProcessGrid {
 public:
  /// \pre  n >= 0, edge >= 1, depth >= 1, and the number of ranks is an int
  Grid(Index n, int edge, int depth) : ProcessGrid{edge, edge, depth, layout::GridOrder::column}, n_(n) {
    PLAIT_ASSERT(n >= 0 && edge >= 1 && depth >= 1, "a grid has ranks");
    PLAIT_ASSERT(Index{edge} * edge <= std::numeric_limits<int>::max() / depth, "an int can count the ranks");
  }

  /// The largest p with p³ (p² · layers) ranks.
  [[nodiscard]] static int largest_cube(int ranks) noexcept {
    int edge = 1;
    while (Index{edge + 1} * (edge + 1) * (edge + 1) <= ranks) ++edge;
    return edge;
  }
  [[nodiscard]] static int largest_edge(int ranks, int layers) noexcept {
    int edge = 1;
    while (Index{edge + 1} * (edge + 1) * layers <= ranks) ++edge;
    return edge;
  }

  [[nodiscard]] Index n() const noexcept { return n_; }
  [[nodiscard]] int edge() const noexcept { return rows; }

  /// The rows (columns) of the matrix that are in the i-th block row (column), and the elements of a block.
  [[nodiscard]] Index extent(int i) const noexcept { return n_ / edge() + (i < n_ % edge() ? 1 : 0); }
  [[nodiscard]] Index elements(int i, int j) const noexcept { return extent(i) * extent(j); }
  [[nodiscard]] Index most_elements() const noexcept { return elements(0, 0); }

  [[nodiscard]] layout::Layout layout() const {
    return layout::Layout::blocks({n_, n_}, edge(), edge(), order, StorageOrder::column_major);
  }

 private:
  Index n_;
};

}  // namespace plait::dense::symm
