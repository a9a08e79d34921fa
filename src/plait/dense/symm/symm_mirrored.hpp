#pragma once

#include "plait/dense/symm/symm_pairing.hpp"
#include "plait/dense/symm/symm_scheduled.hpp"

namespace plait::dense {

/// plait's own algorithm: one graph in which half of each product is computed, as its other half mirrors it.
///
/// On p³ ranks, with blocks of U = (n/p)² elements (`SymmPairing` tells who needs what):
/// 1. D(j, a) goes along the chain of its row's ranks from its home. The last of them passes each half of its columns
///    on to those who need it, segment by segment as they come.
/// 2. Each rank multiplies panel by panel as columns come: n³/p³ multiplications and additions, half of those of a
///    general product. Panels are summed up along chains of p ranks, which end on another rank for each panel.
/// 3. The last hop of a sum goes straight home, and to the home of the mirrored block, which transposes it. So D² is
///    at home, from where the halves of its columns set out: 2. and 3. again, for D³.
///
/// A rank sends and receives 3 to 4 U, all of it under way together as far as it can be; with Algorithm 4 it is up to 7
/// U, one after the other. (GTFock, too, sums up lower triangles only, but on the ranks and with the operands of
/// Algorithm 4.)
///
/// D² and D³ are exactly Hermitian.
class SymmMirrored final : public SymmScheduled {
 public:
  SymmMirrored(mpi::Context& context, const SymmGrid& mesh, const SymmProducts& products, const SymmOptions& options);

 private:
  void build(Graph& graph, const Slots& slots, Powers powers) override;
  [[nodiscard]] int strands() const noexcept override { return 1; }
  [[nodiscard]] Index workspace_elements() const override;

  SymmPairing pairing_;
};

}  // namespace plait::dense
