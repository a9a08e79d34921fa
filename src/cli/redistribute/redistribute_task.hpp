#pragma once

#include <optional>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/io/file_kind.hpp"
#include "plait/layout/layout.hpp"
#include "plait/mpi/context.hpp"

#include "cli/redistribute/redistribute_options.hpp"
#include "cli/redistribute/relabeled_plan.hpp"

namespace plait::cli {

/// What `plait redistribute` is going to do, known in full before an element is read.
struct RedistributeTask {
  io::MatrixFile input;                                   // B
  std::optional<io::MatrixFile> into;                     // A as it was, for beta
  layout::Layout input_slab;                              // how B is read
  layout::Layout from;                                    // how the ranks hold B
  layout::Layout to;                                      // how the ranks hold A
  layout::Layout output_slab;                             // how A is written, if into one file
  std::optional<RelabeledPlan> relabeled = std::nullopt;  // what made `to` of --to, with --relabel

  /// The size of all of B, which is that of A.
  [[nodiscard]] Index matrix_bytes() const;
};

/// Reads the headers and checks that everything fits together and that the output can be written. Collective over
/// `context`.
///
/// \throws Error  on every rank
[[nodiscard]] RedistributeTask prepare(mpi::Context& context, const RedistributeOptions& options);

/// The bytes that this rank needs at the same time in each phase of the task, for `estimate_memory`.
[[nodiscard]] std::vector<Index> memory_of_phases(const mpi::Context& context, const RedistributeOptions& options,
                                                  const RedistributeTask& task);

}  // namespace plait::cli
