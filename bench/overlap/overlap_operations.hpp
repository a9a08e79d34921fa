#pragma once

#include <mpi.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/mpi/context.hpp"

#include "bench/overlap/overlap_levels.hpp"
#include "bench/overlap/overlapped_operation.hpp"

namespace plait::bench {

/// Between whom.
enum class Among {
  ranks,    ///< all of them, each with a vector of so many bytes
  columns,  ///< those of equal place on their nodes: each with its share of the bytes of a node, columns all at once
  active,  ///< the first ones of their nodes, each with all bytes of its node, while the others sleep: `ActiveOperands`
};

struct Task {
  Operation operation;
  Among among = Among::ranks;
};

[[nodiscard]] std::string name(const Task& task);

/// The least time that links between so many nodes need for it, in times of `bytes / goodput`; of one node, what that
/// would be if its ranks had a node each.
[[nodiscard]] double bound(Operation operation, const mpi::Context& context) noexcept;

/// How it is done.
struct Variant {
  /// levels: of an allreduce alone
  enum class By { blocking_mpi, strands_of_mpi, plait, levels } by;
  int strands = 1;  // of MPI's non-blocking calls, collectives on a communicator each
  Levels levels = {};

  [[nodiscard]] std::string name() const;
};

/// One of them, set up to be run again and again.
class Operands {
 public:
  /// \pre  not among active ranks; among columns: `columns(context) > 0`, and no mesh
  Operands(mpi::Context& context, const Task& task, Index bytes);

  /// Everything that is read is new, and nothing is left of results.
  void rewrite() const;
  /// Collective; `run` of several of them in any order.
  [[nodiscard]] std::function<void()> run_by(const Variant& variant) const;
  [[nodiscard]] Index wrong_elements() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace plait::bench
