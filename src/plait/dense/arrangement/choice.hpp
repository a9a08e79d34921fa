#pragma once

#include <functional>
#include <optional>
#include <string>

#include "plait/base/index.hpp"
#include "plait/dense/arrangement/arrangement.hpp"
#include "plait/dense/panels.hpp"
#include "plait/model/machine.hpp"
#include "plait/model/placement.hpp"

namespace plait::dense {

/// How a product is carried out. What is empty is chosen, alike on all ranks, by the description of the machine that
/// the context has.
struct MultiplicationOptions {
  std::optional<Method> method = {};
  /// All or some of the mesh: 0 is chosen. As many ranks as fit; the others have nothing to do.
  ProcessGrid mesh = {0, 0, 0};
  /// Bytes that a rank may take beyond A, B and C of the caller. More layers need more memory: there are as many as
  /// fit, also where `mesh` says more. The same on all ranks.
  std::optional<Index> memory_limit = {};
  /// Terms of SUMMA's panels; 0 is chosen.
  Index panel_terms = 0;
  /// Of it, what goes to redistributions: see `redistribute::Options`.
  Index redistribution_bytes = Index{32} << 20;
};

struct Choice {
  Arrangement arrangement;
  Cut cut;
  double seconds = 0;         // predicted, without redistributions
  Index workspace_bytes = 0;  // of the rank that takes most: tiles, what is on its way, and redistributions
  Index redistribution_bytes = 0;
};

/// What a rank with this arrangement takes: see `Choice::workspace_bytes`.
[[nodiscard]] Index workspace_bytes(const Arrangement& arrangement, const Cut& cut, Index element_bytes);

/// The time of a product, as the busiest rank has it: multiplying, while panels travel; then sums over layers. A rank
/// multiplies with one core.
[[nodiscard]] double predicted_seconds(const Arrangement& arrangement, const model::Machine& machine,
                                       const model::Placement& placement, Index element_bytes);

/// The time of a message of this size, while all ranks of a node send and receive one.
[[nodiscard]] double exchange_seconds(const model::Machine& machine, const model::Placement& placement, double bytes);

/// The bytes that the busiest rank sends or receives until A, B and C are where an arrangement wants them, and back.
using MovedBytes = std::function<Index(const Arrangement&)>;

/// The fastest way of those that fit. Of equally fast ones that which takes fewer ranks, fewer layers, a squarer mesh.
/// Pure: the same on ranks that ask for the same.
///
/// \param moved_bytes  if it is there, counts for the few fastest, with the time that this takes, and in place
/// \param in_place     the arrangement that leaves C where it lies, if there is one: see `in_place_arrangement`
///
/// \throws ArgumentError  a mesh of more ranks than there are, or that its method can't have; a memory limit below what
///                        the most frugal way needs, which is named; Method::in_place where the layouts do not allow it
[[nodiscard]] Choice choose(const ProductShape& shape, const model::Machine& machine, const model::Placement& placement,
                            Index element_bytes, const MultiplicationOptions& options,
                            const MovedBytes& moved_bytes = {}, const std::optional<Arrangement>& in_place = {});

}  // namespace plait::dense
