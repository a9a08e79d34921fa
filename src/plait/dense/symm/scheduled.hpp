#pragma once

#include <array>
#include <optional>

#include "plait/base/memory.hpp"
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
  [[nodiscard]] Index bytes(Index elements) const noexcept { return elements * products_->element_bytes; }
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

/// C ← op(A)·op(B), or C ← C + op(A)·op(B), some columns in each step, so that messages are looked after in between.
struct SteppedProduct {
  Op op_a = Op::identity, op_b = Op::identity;
  schedule::Range a, b, c;  ///< blocks without gaps
  Index rows, inner, columns;
  bool adds = false;

  /// \param products  outlives the graph
  schedule::OperationId append(schedule::Graph& graph, schedule::Position position, const Products& products,
                               schedule::Dependencies after) const;

 private:
  [[nodiscard]] Index columns_of_step() const noexcept;
  [[nodiscard]] Index steps() const noexcept;
  void make_step(const Products& products, const schedule::Run& run, Index step) const;
};

}  // namespace plait::dense::symm
