#pragma once

#include <array>
#include <optional>

#include "plait/dense/symm/symm_lines.hpp"
#include "plait/dense/symm/symm_scheduled.hpp"

namespace plait::dense {

/// Algorithm 6: two 2.5D products on a mesh of q × q × c ranks. Each of the c layers has all blocks of D, and makes its
/// share of the q steps of Cannon's algorithm: the k-th one those from qk/c on, rounded down. What comes for the next
/// step does so while this one is multiplied.
class SymmCannon final : public SymmScheduled {
 public:
  /// Collective over the context.
  SymmCannon(mpi::Context& context, const SymmGrid& mesh, const SymmProducts& products, const SymmOptions& options);

 private:
  using Stream = collective::Stream;

  void build(Graph& graph, const Slots& slots, Powers powers) override;
  [[nodiscard]] int strands() const noexcept override { return lines_.strands(); }
  [[nodiscard]] Index workspace_elements() const override;

  // A block that is at (i, j), and when it is there.
  struct At {
    Place place;
    Stream stream;
  };
  struct Buffers {
    std::array<Place, 2> a, b;
    Place c;
  };
  /// C ← this layer's part of A·B, whose blocks (i, j) are at (i, j). C is final after the operation.
  /// \param in_use  after these the buffers may be written to; becomes what this leaves behind
  [[nodiscard]] schedule::OperationId multiply(Graph& graph, const At& a, const At& b, const Buffers& buffers,
                                               Index first_stage, schedule::Dependencies& in_use) const;
  [[nodiscard]] Index stages_of_product() const;
  [[nodiscard]] int wrapped(int index) const noexcept {
    return (index % mesh().edge() + mesh().edge()) % mesh().edge();
  }
  [[nodiscard]] int first_step(int layer) const noexcept {
    return static_cast<int>(Index{mesh().edge()} * layer / mesh().layers);
  }

  SymmLines lines_;
  layout::GridPlace me_;
  Index rows_ = 0, columns_ = 0;
  std::optional<SymmLines::Line> along_k_;
};

}  // namespace plait::dense
