#pragma once

#include <optional>

#include "plait/base/index.hpp"

namespace plait::dense {

/// How D² and D³ are computed. "Algorithm n" is that of the paper named in `SymmSquareCube`.
enum class SymmAlgorithm : unsigned char {
  original,    ///< Algorithm 3: on a cube of ranks, by the MPI library's blocking collectives
  baseline,    ///< Algorithm 4: the same without transposing the blocks of D²
  overlapped,  ///< Algorithm 5: Algorithm 4 with each block in strands, so that its collectives overlap
  cannon,      ///< Algorithm 6: two 2.5D products, whose layers make a share of the steps of Cannon's algorithm each
  mirrored,    ///< plait's own: one graph in which half of each product is computed, as the other half mirrors it
};

/// Who carries the collectives of an overlapped algorithm out.
enum class SymmBackend : unsigned char {
  plait,  ///< messages from rank to rank on a schedule
  mpi,    ///< the MPI library's non-blocking collectives, each strand on communicators of its own
};

/// What is empty is chosen, alike on all ranks.
struct SymmOptions {
  /// `mirrored`, but `cannon` where that keeps more than twice as many ranks busy: twice, as it multiplies twice as
  /// much.
  std::optional<SymmAlgorithm> algorithm = {};
  SymmBackend backend = SymmBackend::plait;  ///< of Algorithms 5 and 6
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

}  // namespace plait::dense
