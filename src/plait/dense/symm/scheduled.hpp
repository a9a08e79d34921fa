#pragma once

#include <array>
#include <optional>
#include <vector>

#include "plait/base/memory.hpp"
#include "plait/collective/group.hpp"
#include "plait/collective/mpi_strands.hpp"
#include "plait/collective/stream.hpp"
#include "plait/dense/symm/plan.hpp"
#include "plait/schedule/graph.hpp"
#include "plait/schedule/schedule.hpp"

namespace plait::dense::symm {

/// An algorithm that is one graph: one for D² alone, one for both products, each made when it is first wanted.
class Scheduled : public Plan {
 public:
  void make(Powers powers) final;
  void prepare(Powers powers) final;
  void run(const Operands& operands, Powers powers) final;
  [[nodiscard]] Index workspace_bytes() const noexcept final { return workspace_.size(); }

 protected:
  using Graph = schedule::Graph;
  using Place = collective::Place;

  Scheduled(mpi::Context& context, const Grid& mesh, const Products& products, const Options& options)
      : Plan(mesh, options), context_(&context), products_(&products) {}

  /// Where the operands lie.
  struct Slots {
    schedule::SlotId d, d2, d3, workspace;
  };

  [[nodiscard]] mpi::Context& context() const noexcept { return *context_; }
  [[nodiscard]] const Products& products() const noexcept { return *products_; }
  [[nodiscard]] Index bytes(Index elements) const noexcept { return elements * products_->element_bytes(); }
  /// Elements in one message; at least one.
  [[nodiscard]] Index segment_elements() const noexcept;

  /// This rank's part.
  virtual void build(Graph& graph, const Slots& slots, Powers powers) = 0;
  [[nodiscard]] virtual int strands() const noexcept = 0;
  /// Of memory that the graph of a rank of the mesh has for itself.
  [[nodiscard]] virtual Index workspace_elements() const = 0;

 private:
  [[nodiscard]] Index needed_workspace_bytes() const;
  [[nodiscard]] schedule::Schedule schedule(Powers powers);

  mpi::Context* context_;
  const Products* products_;
  Buffer workspace_;
  std::array<std::optional<schedule::Schedule>, 2> schedules_;  // by powers
};

/// The collectives of overlapped algorithms along the lines of a mesh, by plait's chains and rings or by the MPI
/// library's non-blocking ones. Of each block all strands set out at once.
class Lines {
 public:
  using Graph = schedule::Graph;
  using Place = collective::Place;
  using Stream = collective::Stream;

  Lines(mpi::Context& context, const Products& products, const Options& options, Index segment_elements);

  [[nodiscard]] int strands() const noexcept { return strands_; }

  /// Some ranks, and how they communicate.
  struct Line {
    collective::Group group;
    std::optional<collective::MpiStrands> of_mpi;
  };
  /// Collective over these ranks, all lines in the same order.
  [[nodiscard]] Line line(std::vector<int> ranks) const;

  /// A block of so many elements, which sets out at this stage; and the stages that a block takes to set out.
  [[nodiscard]] Stream cut(Index elements, Index first_stage) const;
  [[nodiscard]] Index stages(Index elements) const;
  /// How much later all of it is there, among so many ranks: after a broadcast or a reduction, and at most after an
  /// allreduce.
  [[nodiscard]] Index stages_of_collective(int ranks) const noexcept { return by_mpi_ ? 1 : ranks - 1; }
  [[nodiscard]] Index most_stages_of_allreduce(int ranks) const noexcept { return 4 * Index{ranks} + 8; }

  Stream broadcast(Graph& graph, const Line& line, int root, const Stream& stream, Place data) const;
  Stream reduce(Graph& graph, const Line& line, int root, const Stream& stream, Place in, Place out) const;
  Stream allreduce(Graph& graph, const Line& line, const Stream& stream, Place in, Place out) const;

 private:
  mpi::Context* context_;
  const Products* products_;
  bool by_mpi_;
  int strands_;
  Index segment_elements_;
};

/// The same segments, at the same stages, once `operation` is done.
[[nodiscard]] collective::Stream after(const collective::Stream& stream, schedule::OperationId operation);

}  // namespace plait::dense::symm
