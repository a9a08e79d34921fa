#pragma once

#include <functional>
#include <memory>

#include "plait/base/index.hpp"
#include "plait/mpi/context.hpp"

#include "bench/overlap/overlap_operations.hpp"

namespace plait::bench {

/// `Operands` of the first rank of each node, while the others sleep: what the literature calls one process per node in
/// a program that has several.
///
/// Source: Huang, Chow: "Overlapping communications with other communications …", section III.B and Figs. 4 and 5.
class ActiveOperands {
 public:
  /// \param operation  between these ranks; each has all of the bytes
  ActiveOperands(mpi::Context& context, Operation operation, Index bytes);

  void rewrite() const;
  /// Collective over all ranks; `run` of several of them in any order.
  [[nodiscard]] std::function<void()> run_by(const Variant& variant) const;
  [[nodiscard]] Index wrong_elements() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace plait::bench
