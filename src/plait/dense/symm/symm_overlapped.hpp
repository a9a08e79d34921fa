#pragma once

#include <optional>

#include "plait/dense/symm/symm_lines.hpp"
#include "plait/dense/symm/symm_scheduled.hpp"

namespace plait::dense {

/// Algorithm 5: Algorithm 4 with each block in strands that follow each other, by plait's pipelined chains or the MPI
/// library's non-blocking collectives.
class SymmOverlapped final : public SymmScheduled {
 public:
  /// Collective over the context.
  SymmOverlapped(mpi::Context& context, const SymmGrid& mesh, const SymmProducts& products, const SymmOptions& options);

 private:
  using Stream = collective::Stream;
  using Reducer = int (*)(int i, int k);  // at which j block (i, k) is reduced

  void build(Graph& graph, const Slots& slots, Powers powers) override;
  [[nodiscard]] int strands() const noexcept override { return lines_.strands(); }
  [[nodiscard]] Index workspace_elements() const override;

  void send_home(Graph& graph, Reducer reducer, const Stream& reduced, Place block, Place home,
                 Index first_stage) const;

  SymmLines lines_;
  layout::GridPlace me_;
  Index rows_ = 0, inner_ = 0, columns_ = 0;  // C is rows × columns, a sum of `inner` terms
  std::optional<SymmLines::Line> along_i_, along_j_, along_k_;
};

}  // namespace plait::dense
