#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/learn/linear_model.hpp"
#include "plait/learn/samples.hpp"
#include "plait/learn/solver.hpp"

namespace plait::learn {

/// Some of the samples, and the model of them alone.
struct FittedPiece {
  Index samples = 0;
  Index classes = 0;  ///< that these have; 0 of a linear model
  LinearModel model;  ///< with as many outputs as all samples have: minus infinity for a class that the piece lacks
  iterate::State state;
  double objective = 0;
};

/// Fits a linear model to each of some pieces, which have a sample at least. Samples go to the ranks of their pieces,
/// one or more where there are enough ranks, and from then on no message goes from piece to piece. A piece of one class
/// says that one always. Models have the same bits on any number of ranks. Collective.
///
/// \param labels  the piece of each sample of this rank that is to learn from, in their order
/// \throws ArgumentError  on all ranks: as `Solver`, a method whose result depends on the ranks, labels beyond the
///                        pieces, or a piece without samples
/// \throws OutOfMemory    on all ranks, where one has too little
///
/// Source: You et al., "CA-SVM: communication-avoiding support vector machines on distributed systems", IPDPS 2015.
[[nodiscard]] std::vector<FittedPiece> fit_pieces(const Samples& samples, std::span<const std::int32_t> labels,
                                                  Index pieces, const Options& options);

}  // namespace plait::learn
