#pragma once

#include <optional>

#include "plait/base/index.hpp"

namespace plait::dense {

/// How D² and D³ are computed. "Algorithm n" is that of the paper named in `SymmSquareCube`.
enum class SymmAlgorithm : unsigned char {
  original,    ///< Algorithm 3: on a cube of ranks, by the MPI library's blocking collectives
  baseline,    ///< Algorithm 4: the same without transposing the blocks of D²
  overlapped,  ///< Algorithm 5: Algorithm 4 with each block in strands, so that its collectives overlap
};

/// Who carries the collectives of an overlapped algorithm out.
enum class SymmBackend : unsigned char {
  plait,  ///< messages from rank to rank on a schedule
  mpi,    ///< the MPI library's non-blocking collectives, each strand on communicators of its own
};

/// What is empty is chosen, alike on all ranks.
struct SymmOptions {
  SymmAlgorithm algorithm = SymmAlgorithm::baseline;
  SymmBackend backend = SymmBackend::plait;  ///< of overlapped algorithms
  /// In how many strands blocks are cut: the paper's N_DUP. Of overlapped algorithms; 4 with MPI's collectives, as in
  /// the paper, 1 with plait's own, whose segments overlap anyway.
  std::optional<int> strands = {};
  /// Of what one message carries at most.
  std::optional<Index> segment_bytes = {};
  /// p: the mesh has p × p × p ranks, or p × p × `layers`. As many as there are ranks for.
  std::optional<int> edge = {};
};

}  // namespace plait::dense
